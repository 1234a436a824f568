/**
 * A worker of the page: answers questions, some of them with code that is loaded when it is first asked for.
 */
import { CompileError, RunError } from "../../../ir/index.js";
import { comparedTo } from "./compared.js";
import { complete } from "./complete.js";
import type { Context, FromWorker, Kind, ToWorker, Work } from "./messages.js";
import { textProblems, hoverAt } from "./problems.js";
import { edited } from "./program.js";
import { show, vocabulary } from "./show.js";
import { messageOf } from "../../../ir/faults.js";

type Answers = {
  readonly [K in Kind]: (
    ask: Work[K]["ask"],
    context: Context,
  ) => Work[K]["answer"] | Promise<Work[K]["answer"]>;
};

const answers: Answers = {
  vocabulary: () => vocabulary(),
  show,
  edit: ({ change, ...asked }) => {
    const text = edited(asked, change);
    return { text, shown: show({ ...asked, text }) };
  },
  problems: ({ text }) => textProblems(text),
  hover: ({ text, line, column }) => hoverAt(text, line, column),
  complete: ({ text, line, column }) => complete(text, line, column),
  example: async ({ id }) => (await import("./examples.js")).exampleOf(id),
  passes: async (asked) => (await import("./texts.js")).passTexts(asked),
  code: async ({ form, ...asked }) => (await import("./texts.js")).kernelText(asked, form),
  copy: async ({ form, ...asked }) => (await import("./copy-as.js")).copyAs(asked, form),
  timeline: async (asked) => (await import("./texts.js")).timelineOf(asked),
  compared: comparedTo,
  space: async (asked, context) => (await import("./search.js")).spaceFor(asked, context),
  steps: async (asked) => (await import("./steps.js")).kernelSteps(asked),
  picks: async ({ box, ...asked }) => (await import("./steps.js")).picksOf(asked, box),
  run: async (asked, context) => (await import("./run.js")).runAll(asked, context),
  tune: async (asked, context) => (await import("./search.js")).searchFor(asked, context),
  open: async (asked) => (await import("./open-file.js")).openFile(asked),
};

const running = new Map<number, AbortController>();
const send = (message: FromWorker): void => {
  postMessage(message);
};

addEventListener("message", ({ data }: MessageEvent<ToWorker>) => {
  if (data.kind === "stop") running.get(data.id)?.abort();
  else void answer(data.id, data.kind, data.ask);
});

/**
 * Runs one request in the worker and posts the progress and the result to the page. An error is also posted
 * to the page, not thrown.
 */
async function answer(id: number, kind: Kind, ask: unknown): Promise<void> {
  const controller = new AbortController();
  const { signal } = controller;
  running.set(id, controller);
  try {
    const handler = answers[kind] as (ask: unknown, context: Context) => unknown;
    const answered = await handler(ask, {
      signal,
      onProgress(done, total, label) {
        send({ id, state: "progress", done, total, label });
      },
    });
    send({ id, state: "done", answer: answered });
  } catch (thrown) {
    send(failureOf(id, thrown, signal.aborted));
  } finally {
    running.delete(id);
  }
}

function failureOf(id: number, thrown: unknown, stopped: boolean): FromWorker {
  if (thrown instanceof CompileError || thrown instanceof RunError)
    return { id, state: "refused", diagnostics: thrown.diagnostics };
  if (stopped) return { id, state: "stopped" };
  return { id, state: "failed", message: messageOf(thrown) };
}
