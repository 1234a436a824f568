/** A process of `firstCalls`: loads a library, makes one call, and sends what it took and gave. */
import { callOf, libraries, unseenGather, unseenInputs } from "./unseen.js";

const [name, rows] = process.argv.slice(2);
const library = libraries.find((known) => known === name);
if (library === undefined) throw new Error(`the libraries are ${libraries.join(" and ")}`);
const call = await callOf(library);
const called = await call(unseenGather(Number(rows), 0), unseenInputs(Number(rows), 0)(0));
process.send?.(called, () => {
  process.exit();
});
