// Solidity compiler that stays loaded: one standard JSON a line on stdin, one answer a line on stdout. Loading it for each of a
// thousand mutants would cost more than compiling them.
//
//   node compiler.js DIR      imports are read below DIR
'use strict';

const fs = require('node:fs');
const path = require('node:path');
const readline = require('node:readline');

const root = path.resolve(process.argv[2]);
const solc = require(path.join(root, 'node_modules', 'solc'));

/** Answers an import request of the compiler with a file below the root. */
function readImport(name) {
  const file = path.join(root, name);
  return fs.existsSync(file) ? { contents: fs.readFileSync(file, 'utf8') } : { error: `no file ${name}` };
}

readline.createInterface({ input: process.stdin }).on('line', (line) => {
  process.stdout.write(`${solc.compile(line, { import: readImport }).replaceAll('\n', ' ')}\n`);
});
