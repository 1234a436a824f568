/**
 * The tile program statement by statement, forwards and backwards: what is read and written where, and which
 * index names which row.
 */
import { useState } from "preact/hooks";
import type { Box, Picked, RunStep, Steps, StepTensor, WithInputs } from "../jobs/messages.js";
import { long } from "../workers.js";
import { Action } from "./action.js";
import { RefusedWork } from "./diagnostics.js";
import { useAnswer } from "./use-answer.js";

/**
 * Renders the Steps tab: runs the program in a worker and shows the executed statements. The program runs
 * again when `asks`, a key of the request, changes.
 */
export function StepsView({ asked, asks }: { readonly asked: WithInputs; readonly asks: string }) {
  const found = useAnswer(long, "steps", asked, asks);
  switch (found.state) {
    case "waiting":
      return <p class="soft">Running the program…</p>;
    case "refused":
      return <RefusedWork list={found.diagnostics} />;
    case "failed":
      return <p>{found.message}</p>;
    case "done":
      return <Stepper key={asks} {...found.answer} asked={asked} asks={asks} />;
  }
}

/**
 * Renders one executed statement with the regions that the statement reads and writes, and controls that
 * select another statement. `more` is true if the program executes more statements than `steps` has.
 */
function Stepper({
  steps,
  more,
  tensors,
  asked,
  asks,
}: Steps & { readonly asked: WithInputs; readonly asks: string }) {
  const [now, setNow] = useState(0);
  const step = steps[now];
  const go = (to: number): void => {
    setNow(Math.max(0, Math.min(steps.length - 1, to)));
  };
  const made = step?.made;
  const picked = useAnswer(
    long,
    "picks",
    made === undefined ? undefined : { ...asked, box: made },
    `${asks} ${made?.offsets.join() ?? ""} ${made?.sizes.join() ?? ""}`,
  );
  if (step === undefined) return <p>The program has no statement: its output is empty.</p>;
  const moveTo = (to: number) => (): void => {
    go(to);
  };
  const before = now === 0 ? "this is the first statement" : "";
  const after = now >= steps.length - 1 ? "this is the last statement" : "";
  const picks = made !== undefined && picked.state === "done" ? picked.answer : [];
  return (
    <div class="steps" data-testid="step-view" data-step={now}>
      <div class="row">
        <Action id="step-first" why={before} onAction={moveTo(0)}>
          First
        </Action>
        <Action id="step-back" why={before} onAction={moveTo(now - 1)}>
          Back
        </Action>
        <Action id="step-on" class="main" why={after} onAction={moveTo(now + 1)}>
          Step
        </Action>
        <Action id="step-last" why={after} onAction={moveTo(steps.length - 1)}>
          Last
        </Action>
      </div>
      <label class="slider">
        <span>statement</span>
        <input
          type="range"
          min={0}
          max={steps.length - 1}
          value={now}
          aria-valuetext={`${now + 1} of ${steps.length}, ${step.text}`}
          onInput={(event) => {
            go(Number(event.currentTarget.value));
          }}
        />
        <output>
          {now + 1} / {steps.length}
        </output>
      </label>
      {more ? (
        <p class="soft">
          The first {steps.length.toLocaleString("en")} statements are kept; the program has more.
        </p>
      ) : null}
      <p>
        <code data-testid="step-text">{step.text}</code>
      </p>
      <p class="soft">
        task {step.task}
        {step.loops.map(([name, value]) => `, %${name} = ${value}`).join("")}
      </p>
      <div class="tensors">
        {tensors.map((tensor) => (
          <TensorView
            key={tensor.name}
            tensor={tensor}
            boxes={step.boxes.filter(({ name }) => name === tensor.name)}
            holds={tensor.space === "ub" ? heldBy(tensor.name, steps, now) : undefined}
            picks={picks}
          />
        ))}
      </div>
      {picks.length === 0 ? null : <Picks list={picks} />}
    </div>
  );
}

/**
 * Describes the last write to a buffer at or before statement `now` (an index in `steps`), for example `load
 * of %x[0, 0][8, 128]`. Returns `nothing yet` if no statement wrote to the buffer.
 */
function heldBy(name: string, steps: readonly RunStep[], now: number): string {
  for (let k = now; k >= 0; k--) {
    const step = steps[k];
    if (step === undefined) break;
    const written = step.boxes.find((box) => box.write && box.name === name);
    if (written === undefined) continue;
    const sources = step.boxes.filter(({ write }) => !write);
    return `${step.op} of ${sources.map(shown).join(" and ")}`;
  }
  return "nothing yet";
}

const shown = ({ name, offsets, sizes }: Box): string =>
  `%${name}[${offsets.join(", ")}][${sizes.join(", ")}]`;

interface TensorProps {
  readonly tensor: StepTensor;
  readonly boxes: readonly Box[];
  readonly holds: string | undefined;
  readonly picks: readonly Picked[];
}

const [wide, highest, leastCell] = [300, 170, 14];
const mostRows = 64;

/**
 * Renders a tensor as a two-dimensional picture. The last dim runs across; all other dims are flattened and
 * run down. The regions in `boxes` and the elements in `picks` are highlighted.
 */
function TensorView({ tensor, boxes, holds, picks }: TensorProps) {
  const { name, dtype, shape, space, values } = tensor;
  const columns = Math.max(1, shape[shape.length - 1] ?? 1);
  const rows = Math.max(
    1,
    shape.slice(0, -1).reduce((product, extent) => product * extent, 1),
  );
  const cell = Math.min(wide / columns, highest / rows);
  const across = cell >= leastCell || columns * 1.2 > rows ? wide / columns : Math.max(cell, 24 / columns);
  const down = Math.min(highest / rows, Math.max(across, 6 / rows), 26);
  const [width, height] = [across * columns, down * rows];
  const read = values !== undefined && across >= 26 && down >= leastCell;
  const dots = picks.flatMap(({ out, sites, from }) => [
    ...sites.filter(({ table }) => table === name).map(({ at }) => at),
    ...(from !== undefined &&
    name === tensor.name &&
    isData(tensor, from) &&
    boxes.some(({ write }) => !write)
      ? [from]
      : []),
    ...(boxes.some(({ write }) => write) && space === "gm" ? [out] : []),
  ]);
  return (
    <figure>
      <figcaption>
        <code>%{name}</code> {dtype}[{shape.join()}]{" "}
        {space === "gm" ? "in global memory" : "in the unified buffer"}
        {holds === undefined ? "" : `: ${holds}`}
      </figcaption>
      <svg
        viewBox={`-1 -1 ${width + 2} ${height + 2}`}
        width={width + 2}
        height={height + 2}
        role="img"
        aria-label={`%${name}, ${boxes.map((box) => `${box.write ? "written" : "read"} ${shown(box)}`).join("; ") || "untouched"}`}
      >
        <rect width={width} height={height} class="tensor" />
        {boxes.flatMap((box) =>
          rectsOf(box, shape).map(({ row, column, high, across: many }) => (
            <rect
              x={column * across}
              y={row * down}
              width={many * across}
              height={Math.max(0.75, high * down)}
              class={box.write ? "written" : "read"}
            />
          )),
        )}
        {dots.map((at) => {
          const { row, column } = flat(at, shape);
          return (
            <rect
              x={column * across}
              y={row * down}
              width={Math.max(1.5, across)}
              height={Math.max(1.5, down)}
              class="picked"
            />
          );
        })}
        {read
          ? values.map((value, k) => (
              <text
                x={((k % columns) + 0.5) * across}
                y={(Math.floor(k / columns) + 0.5) * down}
                class="value"
              >
                {value.slice(0, Math.max(3, Math.floor(across / 7)))}
              </text>
            ))
          : null}
      </svg>
    </figure>
  );
}

const isData = ({ shape }: StepTensor, from: readonly number[]): boolean =>
  from.length === shape.length && from.every((coord, d) => coord < (shape[d] ?? 0));

/**
 * Returns the 0-based row and column of an element in the two-dimensional picture of a tensor. The last
 * coordinate is the column; the preceding coordinates are flattened to the row.
 */
function flat(
  at: readonly number[],
  shape: readonly number[],
): { readonly row: number; readonly column: number } {
  const row = at.slice(0, -1).reduce((sum, coord, d) => sum * (shape[d] ?? 1) + coord, 0);
  return { row, column: at[at.length - 1] ?? 0 };
}

/**
 * Returns the rectangles, in rows and columns, that a region covers in the two-dimensional picture of a
 * tensor. Only the first 64 rectangles are returned, from the top; further ones are dropped. Returns an empty
 * list for an empty region.
 */
function rectsOf({ offsets, sizes }: Box, shape: readonly number[]) {
  const rank = shape.length;
  if (rank === 0) return [{ row: 0, column: 0, high: 1, across: 1 }];
  if (sizes.some((size) => size <= 0)) return [];
  const last = rank - 1;
  const column = offsets[last] ?? 0;
  const across = sizes[last] ?? 1;
  let starts: number[] = [0];
  for (let d = 0; d < last - 1; d++) {
    const from = offsets[d] ?? 0;
    starts = starts
      .flatMap((start) =>
        Array.from(
          { length: Math.min(mostRows, sizes[d] ?? 1) },
          (_, k) => start * (shape[d] ?? 1) + from + k,
        ),
      )
      .slice(0, mostRows);
  }
  const high = last === 0 ? 1 : (sizes[last - 1] ?? 1);
  const inner = last === 0 ? 0 : (offsets[last - 1] ?? 0);
  const by = last === 0 ? 1 : (shape[last - 1] ?? 1);
  return starts.map((start) => ({ row: last === 0 ? 0 : start * by + inner, column, high, across }));
}

const Picks = ({ list }: { readonly list: readonly Picked[] }) => (
  <div class="scroll" tabIndex={0} role="region" aria-label="which index names which element">
    <table data-testid="picks">
      <thead>
        <tr>
          <th scope="col">output</th>
          <th scope="col">index</th>
          <th scope="col">data</th>
        </tr>
      </thead>
      <tbody>
        {list.map(({ out, sites, from }) => (
          <tr>
            <td>[{out.join(", ")}]</td>
            <td>
              {sites.map(({ table, at, value }) => `%${table}[${at.join(", ")}] = ${value}`).join("; ")}
            </td>
            <td>{from === undefined ? "none" : `[${from.join(", ")}]`}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);
