import { afterEach, describe, expect, it, vi } from "vitest";
import { taskProgress } from "../../src/cli/progress.js";

describe("progress of tasks where no terminal is", () => {
  afterEach(() => {
    vi.restoreAllMocks();
    vi.useRealTimers();
  });

  it("is a line now and then, with a tenth of a task under way and no more digits", () => {
    vi.useFakeTimers();
    const written = vi.spyOn(process.stderr, "write").mockReturnValue(true);
    const progress = taskProgress(8);
    progress.reached(1);
    vi.advanceTimersByTime(10_000);
    progress.reached(5.4067197296640135);
    progress.stop();
    expect(written.mock.calls.map(([text]) => text)).toEqual(["5.4/8 tasks\n"]);
  });
});
