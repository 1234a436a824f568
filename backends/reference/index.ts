export { reference, type ReferenceProgram } from "./reference.js";
