// Builds a settlement tree with OpenZeppelin's library from values read on stdin and says how long it took.
import { StandardMerkleTree } from "@openzeppelin/merkle-tree";

const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
const { values, types } = JSON.parse(Buffer.concat(chunks).toString("utf8"));

const started = process.hrtime.bigint();
const tree = StandardMerkleTree.of(values, types, { sortLeaves: false });
const nanoseconds = process.hrtime.bigint() - started;
console.log(JSON.stringify({ root: tree.root, nanoseconds: Number(nanoseconds) }));
