/**
 * The parts of a PyPTO program that gathers and scatters share: its head and parameters, the loops over
 * views, and the views.
 */
import { inputsOf, outputOf, inoutOf, type AccessFunc } from "../../ir/func.js";
import { isResolved } from "../../ir/schedule-entries.js";
import type { Target } from "../../ir/target.js";
import { printSchedule } from "../../ir/text/print.js";
import { judge, Tiling } from "../../ir/tiling/index.js";
import { at, formatShape, invariant, type Shape } from "../../ir/types.js";
import { Lines } from "../lines.js";
import { Identifiers } from "../names.js";
import { typeNames } from "./type-names.js";

/** Maximum number of tile extents that PyPTO's `set_vec_tile_shapes` accepts. */
export const maxTileEntries = 4;

/**
 * Text to which the statements of a PyPTO kernel are written (`out`), and the Python name of each operand.
 */
export interface KernelBody {
  readonly out: Lines;
  readonly names: readonly string[];
  /** Names of the operands' parts in a view. */
  readonly pieces: readonly string[];
}

/**
 * Returns the text of a PyPTO kernel. `notes`: comment lines that follow the comments on the tiling rules.
 * `body`: writes the statements. If the kernel writes in place, the output is no parameter and has the name
 * of the input.
 */
export function programText(
  func: AccessFunc,
  target: Target,
  notes: readonly string[],
  body: (kernel: KernelBody) => void,
): string {
  const { schedule } = func;
  invariant(isResolved(schedule), "the schedule of a kernel is chosen");
  const base = inoutOf(func);
  const params = base === undefined ? func.operands : inputsOf(func);
  const shown = func.operands.map((operand) => (operand === outputOf(func) ? (base ?? operand) : operand));
  const identifiers = new Identifiers();
  const unique = new Map(params.map((operand) => [operand, identifiers.next("gm", operand.name)]));
  const pieceNames = new Map(params.map((operand) => [operand, identifiers.next("view", operand.name)]));
  const named = (of: ReadonlyMap<object, string>): readonly string[] =>
    shown.map((operand) => of.get(operand) ?? "");
  const names = named(unique);
  const out = new Lines("    ");
  out.line(`# tilec emit pypto: @${func.name} for ${target.name}`);
  out.line(`# schedule: ${printSchedule(schedule)}`);
  for (const { rule, detail, source } of judge(new Tiling(func, schedule, target))) {
    out.line(`# ${rule}: ${detail} (${source})`);
  }
  for (const note of notes) out.line(`# ${note}`);
  out.line("import pypto");
  out.line("");
  out.line("");
  out.line("@pypto.frontend.jit");
  out.line(`def ${identifiers.next("tilec_kernel", func.name)}(`);
  for (const operand of params) {
    const { dtype, shape } = operand.type;
    const typeName = typeNames[dtype];
    invariant(typeName !== undefined, `PyPTO's operations take no ${dtype}`);
    out.line(`    ${unique.get(operand) ?? ""}: pypto.Tensor[${formatShape(shape)}, pypto.${typeName}],`);
  }
  out.line("):");
  out.append(
    out.aside(() => {
      body({ out, names, pieces: named(pieceNames) });
    }),
  );
  return out.toString();
}

/** Extents that loops over views divide. */
interface Viewed {
  /** Extents of the divided dims in elements. */
  readonly extents: Shape;
  /** Extents of a view. */
  readonly view: Shape;
  /** Dims that a loop walks, outermost first. */
  readonly views: Shape;
}

/**
 * Emits the loops over views, with the statements that `body` writes inside. The loop over dim 0 has the
 * Python variable `v0`, and so on. `body` gets the size of a view along each dim: a number, or the variable
 * `n0` if the last view is shorter.
 */
export function emitLoops(
  out: Lines,
  { extents, view, views }: Viewed,
  body: (sizes: readonly string[]) => void,
): void {
  const sizes = extents.map((extent, d) => {
    const entry = Math.min(at(view, d), extent);
    return extent % entry === 0 ? String(entry) : `n${d}`;
  });
  const nest = (k: number): void => {
    const d = views[k];
    if (d === undefined) {
      body(sizes);
      return;
    }
    const [extent, step] = [at(extents, d), at(view, d)];
    const given = `0, ${extent}, ${step}, name="view_${d}", idx_name="v${d}"`;
    out.line(`for v${d} in pypto.loop(${given}):`);
    out.append(
      out.aside(() => {
        if (at(sizes, d).startsWith("n")) out.line(`n${d} = pypto.min(${step}, ${extent} - v${d})`);
        nest(k + 1);
      }),
    );
  };
  nest(0);
}

/**
 * Part of a tensor, as `pypto.view` takes it: the declared extents, the offset along each dim, and the number
 * of valid elements along each dim. Offsets and valid sizes are Python expressions.
 */
export interface ViewOf {
  readonly shape: Shape;
  readonly offsets: readonly string[];
  readonly valid: readonly string[];
}

/** Returns the PyPTO expression for a view (part) of a tensor. */
export function viewText(tensor: string, { shape, offsets, valid }: ViewOf): string {
  const isShort = valid.some((size, k) => size !== String(at(shape, k)));
  const short = isShort ? `, valid_shape=[${valid.join(", ")}]` : "";
  return `pypto.view(${tensor}, ${formatShape(shape)}, [${offsets.join(", ")}]${short})`;
}
