/** Imports point one way: ir <- passes <- src -> backends -> ir. */
const forbid = (name, from, to, comment) => ({ name, severity: "error", comment, from, to });

module.exports = {
  forbidden: [
    forbid("no-circular", {}, { circular: true }, "a cycle has no pipeline order"),
    forbid("no-orphan-modules", {}, { couldNotResolve: true }, "an import that resolves to nothing"),
    forbid(
      "ir-imports-nothing",
      { path: "^ir/" },
      { pathNot: "^ir/" },
      "ir is the language; it knows no pass",
    ),
    forbid("passes-import-ir", { path: "^passes/" }, { pathNot: "^(ir|passes)/" }, "passes know no backend"),
    forbid(
      "backends-import-ir",
      { path: "^backends/" },
      { pathNot: "^(ir|backends)/" },
      "backends know no pass",
    ),
    forbid(
      "plan-imports-no-backend",
      { path: "^backends/plan/" },
      { path: "^backends/[^/]+/", pathNot: "^backends/plan/" },
      "the plan decides, and printers read it: it knows none of them",
    ),
    forbid(
      "backends-apart",
      { path: "^backends/(wgsl|wasm|direct|pto)/" },
      { path: "^backends/[^/]+/", pathNot: "^backends/($1|plan)/" },
      "a backend imports the plan and never another backend; webgpu runs what wgsl emits, sim what wasm emits",
    ),
    forbid(
      "reference-alone",
      { path: "^backends/(reference|pypto)/" },
      { path: "^backends/[^/]+/", pathNot: "^backends/$1/" },
      "the reference is what plans are compared with; a PyPTO program states none",
    ),
    forbid(
      "webgpu-imports-wgsl",
      { path: "^backends/webgpu/" },
      { path: "^backends/[^/]+/", pathNot: "^backends/(webgpu|wgsl)/" },
      "webgpu runs what wgsl emits, and nothing else",
    ),
    forbid(
      "sim-imports-wasm",
      { path: "^backends/sim/" },
      { path: "^backends/[^/]+/", pathNot: "^backends/(sim|wasm|direct|plan)/" },
      "the fast executor runs what wasm emits, or the walk of direct",
    ),
    forbid(
      "examples-import-the-package",
      { path: "^examples/" },
      { path: "^(ir|passes|backends|src)/" },
      "an example runs from a user's project: it imports tilec, tilec/ir and the like",
    ),
    forbid(
      "oracle-stands-alone",
      { path: "^test/oracle/" },
      { path: "^(ir|passes|backends|src)/" },
      "an oracle that shares code shares mistakes",
    ),
    forbid(
      "product-without-tests",
      { path: "^(ir|passes|backends|src)/" },
      { path: "^(test|bench|examples|playground)/" },
    ),
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "node", "default", "types"],
    },
  },
};
