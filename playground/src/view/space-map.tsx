/** Every tile by its cost; a cell sets its tile, and one that no rule takes says why. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { Asked } from "../jobs/program.js";
import { long } from "../workers.js";
import { RefusedWork } from "./diagnostics.js";
import { cellBeside, makeTabStop } from "./map-keys.js";
import type { CellChoice, SpaceMap } from "./pictures.js";
import { useAnswer } from "./use-answer.js";
import { useWidth } from "./use-width.js";

interface Props {
  readonly asked: Asked;
  /** Everything that the map depends on; empty where there is none. */
  readonly space: string;
  readonly tile: string;
  readonly onCell: (choice: CellChoice) => void;
}

/** A map and the answer that it is of; no map where there is one tile. */
interface Drawn {
  readonly of: object;
  readonly map: SpaceMap | undefined;
}

/**
 * Renders the heat map of all tiles by cost. A click or Enter on a cell applies the tile and residency
 * (memory in which an operand is kept). Arrow keys move from cell to cell.
 */
export function SpaceMapView({ asked, space, tile, onCell }: Props) {
  const place = useRef<HTMLElement>(null);
  const width = useWidth(place);
  const [drawn, setDrawn] = useState<Drawn>();
  const settled = useSettled(space);
  const found = useAnswer(long, "space", settled !== "" ? asked : undefined, settled);
  useEffect(() => {
    if (found.state !== "done" || width === 0) return undefined;
    let current = true;
    void import("./pictures.js").then(({ spaceMap }) => {
      if (current) setDrawn({ of: found, map: spaceMap(found.answer, width) });
    });
    return () => {
      current = false;
    };
  }, [found, width]);
  // An answer is no map yet: what draws it is loaded when it is first needed.
  const isDrawn = drawn?.of === found;
  const map = isDrawn ? drawn.map : undefined;
  const isDrawing = settled !== "" && (found.state === "waiting" || (found.state === "done" && !isDrawn));
  useEffect(() => {
    const cells = cellsIn(place.current);
    const current = cells.filter((cell) => choiceOf(cell, map)?.tile.join() === tile);
    for (const cell of cells) cell.classList.toggle("current", current.includes(cell));
    const focused = cells.find((cell) => cell === document.activeElement);
    makeTabStop(cells, focused ?? current[0] ?? cells[0]);
  }, [map, tile]);
  const onKeyDown = (event: KeyboardEvent): void => {
    const from = event.target instanceof SVGAElement ? event.target : undefined;
    const cells = cellsIn(place.current);
    const next = from && cellBeside(cells, from, event.key);
    if (next === undefined) return;
    event.preventDefault();
    makeTabStop(cells, next);
    next.focus();
  };
  return (
    <section class="space" ref={place} aria-label="every tile by its cost">
      <h2>Every tile</h2>
      {settled === "" ? <p class="soft">A tile program has its tile chosen already.</p> : null}
      {found.state === "refused" ? <RefusedWork list={found.diagnostics} /> : null}
      {found.state === "failed" ? <p>{found.message}</p> : null}
      {isDrawing ? <p class="soft">Drawing the map…</p> : null}
      {map !== undefined ? (
        <>
          <figure
            data-testid="heat-map"
            aria-label="cost by tile"
            aria-describedby="map-help"
            onKeyDown={onKeyDown}
            onClick={(event) => {
              const link = event.target instanceof Element ? event.target.closest("a") : null;
              const choice = choiceOf(link, map);
              if (choice === undefined) return;
              event.preventDefault();
              onCell(choice);
            }}
            // The markup is made here, of numbers and of names that the grammar admits, escaped as it is
            // drawn.
            dangerouslySetInnerHTML={{ __html: map.markup }}
          />
          <p class="soft" id="map-help">
            Colour: cycles of the tile's best schedule. Star: the best. Small: an estimate. Hatched: refused.
            Click a cell to set its tile, or use the arrow keys and Enter.
          </p>
        </>
      ) : null}
      {isDrawn && map === undefined ? <p class="soft">There is one tile: no map.</p> : null}
    </section>
  );
}

const cellsIn = (place: HTMLElement | null): readonly SVGAElement[] =>
  Array.from(place?.querySelectorAll<SVGAElement>("figure a") ?? []);

/**
 * Returns the choice that a cell of the map stands for; undefined if `link` is not the link of a cell. Charts
 * write links as SVG 1.1 has them.
 */
function choiceOf(link: Element | null, map: SpaceMap | undefined): CellChoice | undefined {
  const [, k] = /^#cell-(\d+)$/.exec(link?.getAttribute("xlink:href") ?? "") ?? [];
  return k === undefined ? undefined : map?.choices[Number(k)];
}

const settleMs = 300;

/** Returns the latest value that has stayed the same for 300 ms; at first, the initial value. */
export function useSettled<T>(value: T): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => {
      setSettled(value);
    }, settleMs);
    return () => {
      clearTimeout(timer);
    };
  }, [value]);
  return settled;
}
