/** Every tile by its cost; a cell sets its tile, and one that no rule takes says why. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { Asked } from "../jobs/program.js";
import { long } from "../workers.js";
import { Diagnostics } from "./diagnostics.js";
import type { CellChoice, SpaceMap } from "./pictures.js";
import { useAnswer } from "./use-answer.js";

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
 * Renders the heat map of tiles by cost. A click on a cell applies the tile and residency (memory that holds
 * the data) of the cell.
 */
export function SpaceMapView({ asked, space, tile, onCell }: Props) {
  const place = useRef<HTMLElement>(null);
  const [drawn, setDrawn] = useState<Drawn>();
  const settled = useSettled(space);
  const found = useAnswer(long, "space", settled !== "" ? asked : undefined, settled);
  useEffect(() => {
    if (found.state !== "done") return undefined;
    let current = true;
    void import("./pictures.js").then(({ spaceMap }) => {
      if (current) setDrawn({ of: found, map: spaceMap(found.answer) });
    });
    return () => {
      current = false;
    };
  }, [found]);
  // An answer is no map yet: what draws it is loaded when it is first needed.
  const isDrawn = drawn?.of === found;
  const map = isDrawn ? drawn.map : undefined;
  const isDrawing = settled !== "" && (found.state === "waiting" || (found.state === "done" && !isDrawn));
  useEffect(() => {
    for (const link of place.current?.querySelectorAll("figure a") ?? []) {
      link.classList.toggle("current", choiceOf(link, map)?.tile.join() === tile);
    }
  }, [map, tile]);
  return (
    <section class="space" ref={place} aria-label="every tile by its cost">
      <h2>Every tile</h2>
      {settled === "" ? <p class="soft">A tile program has its tile chosen already.</p> : null}
      {found.state === "refused" ? <Diagnostics list={found.diagnostics} /> : null}
      {found.state === "failed" ? <p>{found.message}</p> : null}
      {isDrawing ? <p class="soft">Drawing the map…</p> : null}
      {map !== undefined ? (
        <>
          <figure
            data-testid="heat-map"
            tabIndex={0}
            aria-label="cost by tile"
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
          <p class="soft">
            Each cell is the best schedule of its tile; hatched: no schedule is legal. A small cell is an
            estimate. A click sets the tile, and the verdict says why where it is refused. The star is the
            best.
          </p>
        </>
      ) : null}
      {isDrawn && map === undefined ? <p class="soft">There is one tile: no map.</p> : null}
    </section>
  );
}

/** Returns the choice that a cell of the map stands for. Charts write links as SVG 1.1 has them. */
function choiceOf(link: Element | null, map: SpaceMap | undefined): CellChoice | undefined {
  const [, k] = /^#cell-(\d+)$/.exec(link?.getAttribute("xlink:href") ?? "") ?? [];
  return k === undefined ? undefined : map?.choices[Number(k)];
}

const settleMs = 300;

/** Returns a value once it has not changed for 300 ms. Until then, returns the previous stable value. */
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
