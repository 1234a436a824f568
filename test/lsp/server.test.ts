/** The language server as an editor has it: a process, driven by the protocol's own client library. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  CodeActionRequest,
  CompletionRequest,
  createProtocolConnection,
  DefinitionRequest,
  DidChangeTextDocumentNotification,
  DidOpenTextDocumentNotification,
  DocumentFormattingRequest,
  ExitNotification,
  HoverRequest,
  InitializedNotification,
  InitializeRequest,
  PublishDiagnosticsNotification,
  ShutdownRequest,
  StreamMessageReader,
  StreamMessageWriter,
  type CodeAction,
  type CompletionItem,
  type ProtocolConnection,
  type PublishDiagnosticsParams,
} from "vscode-languageserver-protocol/node";
import { compile, pypto, targets } from "../../src/index.js";
import { diagnose } from "../../src/lsp/analysis.js";
import { Judgements } from "../../src/lsp/judgements.js";

const main = fileURLToPath(new URL("../../dist/src/cli/main.js", import.meta.url));
const uri = "file:///kernels/mine.tir";

const cut = `// A tile that cuts the gather dim.
func @cut(%x: tensor<3x5xf32>, %i: tensor<3x4xi32>) -> tensor<3x4xf32> schedule {tile = [2, 4]} {
  %y = pypto.gather %x, %i {dim = 0}
  return %y
}
`;

let child: ChildProcess;
let client: ProtocolConnection;
let version = 0;
const waiting = new Map<number, (params: PublishDiagnosticsParams) => void>();

beforeAll(async () => {
  child = spawn(process.execPath, [main, "lsp"], { stdio: ["pipe", "pipe", "inherit"] });
  client = createProtocolConnection(
    new StreamMessageReader(child.stdout!),
    new StreamMessageWriter(child.stdin!),
  );
  client.onNotification(PublishDiagnosticsNotification.type, (params) =>
    waiting.get(params.version ?? -1)?.(params),
  );
  client.listen();
  const { serverInfo } = await client.sendRequest(InitializeRequest.type, {
    processId: null,
    rootUri: null, // eslint-disable-line @typescript-eslint/no-deprecated -- the protocol's type still asks for it
    capabilities: {},
  });
  expect(serverInfo?.name).toBe("tilec");
  await client.sendNotification(InitializedNotification.type, {});
  const first = answer(++version);
  await client.sendNotification(DidOpenTextDocumentNotification.type, {
    textDocument: { uri, languageId: "tir", version, text: "" },
  });
  await first;
});

afterAll(() => {
  client.dispose();
  child.kill();
});

const answer = (of: number) =>
  new Promise<PublishDiagnosticsParams>((resolve) => {
    waiting.set(of, resolve);
  });

/** What the server says of a text. */
async function change(text: string): Promise<PublishDiagnosticsParams["diagnostics"]> {
  const told = answer(++version);
  await client.sendNotification(DidChangeTextDocumentNotification.type, {
    textDocument: { uri, version },
    contentChanges: [{ text }],
  });
  return (await told).diagnostics;
}

const at = (line: number, character: number) => ({ textDocument: { uri }, position: { line, character } });

describe("judgements", () => {
  it("compile the functions that changed alone, of 100 on 500 lines, wherever the others moved", () => {
    const asked: string[] = [];
    // One target each, so that its name tells who is compiled.
    const settings = {
      findTarget(name: string) {
        asked.push(name);
        return targets.ascendA2;
      },
    };
    const judgements = new Judgements(settings);
    const text = Array.from({ length: 100 }, (_, k) =>
      cut
        .replace("[2, 4]", "[3, 4]")
        .replace("@cut", `@f${k}`)
        .replace(" schedule", ` target("t${k}") schedule`),
    ).join("");
    expect(diagnose(text, "t.tir", settings, judgements)).toEqual([]);
    expect(new Set(asked).size).toBe(100);
    for (let k = 0; k < 12; k++) {
      asked.length = 0;
      const typed = text.replace("@f50(", `@g${k}(`).replace("[3, 4]", `[3, ${1 + (k % 3)}]`);
      diagnose(`${"\n".repeat(k)}${typed}`, "t.tir", settings, judgements);
      expect([...new Set(asked)].sort()).toEqual(["t0", "t50"]);
    }
  });
});

describe("tilec lsp", () => {
  it("says what is wrong, at its place", async () => {
    expect(await change("func @f(")).toMatchObject([
      { code: "TC002", severity: 1, range: { start: { line: 0, character: 8 } } },
    ]);
    const found = await change(cut);
    expect(found).toMatchObject([{ code: "TC301", range: { start: { line: 2 } } }]);
    expect(found[0]?.message).toMatch(/tile\[0\] = 2 must equal view\[0\] = 3[^]*hint: --tile 3,4/);
  });

  it.each(["file://host/share/mine.tir", "file:///kernels/a%2Fb.tir", "untitled:Untitled-1"])(
    "answers about a document that is no file here: %s",
    async (elsewhere) => {
      const told = answer(++version);
      const textDocument = { uri: elsewhere, languageId: "tir", version, text: cut };
      await client.sendNotification(DidOpenTextDocumentNotification.type, { textDocument });
      expect(await told).toMatchObject({ uri: elsewhere, diagnostics: [{ code: "TC301" }] });
    },
  );

  it("offers the hint as a fix, which works", async () => {
    await change(cut);
    const range = { start: { line: 2, character: 2 }, end: { line: 2, character: 2 } };
    const actions = (await client.sendRequest(CodeActionRequest.type, {
      textDocument: { uri },
      range,
      context: { diagnostics: [] },
    })) as CodeAction[];
    expect(actions.map(({ title, kind }) => [title, kind])).toEqual([["--tile 3,4", "quickfix"]]);
    const [edit] = actions[0]?.edit?.changes?.[uri] ?? [];
    expect(edit?.newText).toContain("schedule {tile = [3, 4]}");
    const lines = cut.split("\n");
    lines[edit!.range.start.line] = edit!.newText;
    expect((await change(lines.join("\n"))).filter(({ severity }) => severity === 1)).toEqual([]);
  });

  it("tells a buffer's bytes, and each rule with its source", async () => {
    const tile = compile(pypto.gather({ input: ["f32", [3, 5]], index: ["i32", [3, 4]], dim: 0 })).text(
      "tile",
    );
    await change(tile);
    const lines = tile.split("\n");
    const line = lines.findIndex((text) => text.includes("= alloc"));
    const name = /%\w+/.exec(lines[line]!)![0];
    const character = lines[line]!.indexOf("%") + 1;
    const hovered = await client.sendRequest(HoverRequest.type, at(line, character));
    // Rows of 16 or 20 B lie in blocks of 32 B.
    expect(JSON.stringify(hovered?.contents)).toMatch(
      new RegExp(`${name}: 3x\\dx\\w+ in the unified buffer, 96 B, at \\d+`),
    );
    await change(cut.replace("[2, 4]", "[3, 4]"));
    const schedule = await client.sendRequest(
      HoverRequest.type,
      at(1, cut.split("\n")[1]!.indexOf("tile =")),
    );
    expect(JSON.stringify(schedule?.contents)).toMatch(
      /of 196608 B on ascend-a2.*pass full-load.*hicann\/pypto/,
    );
    expect(await client.sendRequest(HoverRequest.type, at(0, 4))).toBeNull();
  });

  it("completes operators, attributes, entries of a schedule and their words", async () => {
    const labels = async (text: string): Promise<readonly string[]> => {
      const lines = text.split("\n");
      await change(text);
      const place = at(lines.length - 1, lines[lines.length - 1]!.length);
      const found = (await client.sendRequest(CompletionRequest.type, place)) as CompletionItem[] | null;
      return (found ?? []).map(({ label }) => label);
    };
    const head = "func @f(%x: tensor<4xf32>, %i: tensor<2xi32>) -> tensor<2xf32> ";
    expect(await labels(`${head}{\n  %y = on`)).toEqual(
      expect.arrayContaining(["onnx.gather", "pypto.index_select"]),
    );
    expect(await labels(`${head}{\n  %y = onnx.gather %x, %i {`)).toEqual(
      expect.arrayContaining(["axis = ", "oob = "]),
    );
    expect(await labels(`${head}{\n  %y = onnx.gather %x, %i {oob = `)).toContain('"clamp"');
    expect(await labels(`${head}schedule {tile = [2], `)).toEqual(
      expect.arrayContaining(["view = ", "residency = ", "ub_bytes = "]),
    );
    expect(await labels(`${head}schedule {residency = `)).toEqual(["ub", "gm", "auto"]);
    expect(await labels(`${head}target("asc`)).toContain("ascend-950");
    expect(await labels("func @f(%x: ")).toEqual([]);
  });

  it("goes to where a name is introduced", async () => {
    const tile = compile(pypto.gather({ input: ["f32", [3, 5]], index: ["i32", [3, 4]], dim: 0 })).text(
      "tile",
    );
    await change(tile);
    const lines = tile.split("\n");
    const used = lines.findIndex((text) => text.includes("load "));
    const name = /to (%\w+)/.exec(lines[used]!)![1]!;
    const found = await client.sendRequest(DefinitionRequest.type, at(used, lines[used]!.indexOf(name) + 1));
    const introduced = lines.findIndex((text) => text.includes(`${name} = alloc`));
    expect(found).toMatchObject({
      uri,
      range: { start: { line: introduced, character: lines[introduced]!.indexOf(name) } },
    });
  });

  it("formats, comments and all", async () => {
    const options = { textDocument: { uri }, options: { tabSize: 2, insertSpaces: true } };
    await change(`${cut}}`);
    expect(await client.sendRequest(DocumentFormattingRequest.type, options)).toBeNull();
    await change(cut.replaceAll("  ", "      "));
    const [edit] = (await client.sendRequest(DocumentFormattingRequest.type, options)) ?? [];
    expect(edit?.newText).toContain("\n  %y = pypto.gather %x, %i {dim = 0}\n");
    expect(edit?.newText.split("\n")[0]).toBe(cut.split("\n")[0]);
  });

  it("tells the lines of what moved down", async () => {
    const [moved] = (await change(`\n\n${cut}`)).filter(({ severity }) => severity === 1);
    expect(moved?.range.start.line).toBe(4);
  });

  it("ends when it is told to", async () => {
    const ended = once(child, "exit");
    await client.sendRequest(ShutdownRequest.type);
    await client.sendNotification(ExitNotification.type);
    expect((await ended)[0]).toBe(0);
  });
});
