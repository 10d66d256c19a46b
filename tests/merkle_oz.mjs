// Reads a list of {dump, paths} from stdin; loads each dump with OpenZeppelin's library, which checks every node, builds
// the same tree from the values alone, and verifies each path.
import { StandardMerkleTree } from "@openzeppelin/merkle-tree";

function examine({ dump, paths }) {
  const tree = StandardMerkleTree.load(dump);
  const values = dump.values.map(({ value }) => value);
  const rebuilt = StandardMerkleTree.of(values, dump.leafEncoding, { sortLeaves: false });
  const wrong = paths.filter(
    ({ index, path }) =>
      JSON.stringify(tree.getProof(index)) !== JSON.stringify(path) ||
      !StandardMerkleTree.verify(tree.root, dump.leafEncoding, values[index], path),
  );
  return { root: tree.root, rebuiltRoot: rebuilt.root, wrong: wrong.map(({ index }) => index) };
}

const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
console.log(JSON.stringify(JSON.parse(Buffer.concat(chunks).toString("utf8")).map(examine)));
