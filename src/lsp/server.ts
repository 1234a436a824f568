/** The language server of `.tir`: documents in, answers out, by the language server protocol. */
import {
  CodeActionKind,
  createConnection,
  DiagnosticSeverity,
  ProposedFeatures,
  TextDocuments,
  TextDocumentSyncKind,
  type Connection,
  type Diagnostic as LspDiagnostic,
  type Range as LspRange,
} from "vscode-languageserver/node";
import { TextDocument } from "vscode-languageserver-textdocument";
import type { Diagnostic, Severity } from "../../ir/index.js";
import { lookUpTarget } from "../formats/look-up-target.js";
import { definition, diagnose, fixOf, formatted, hover, rangeOf, type Range } from "./analysis.js";
import { completions } from "./completions.js";
import { fileOf } from "./file-of.js";
import { Judgements } from "./judgements.js";

const severities: Readonly<Record<Severity, DiagnosticSeverity>> = {
  error: DiagnosticSeverity.Error,
  warning: DiagnosticSeverity.Warning,
  hint: DiagnosticSeverity.Hint,
};

const settings = { findTarget: lookUpTarget };

const lspRange = ({ start, end }: Range): LspRange => ({
  start: { line: start.line, character: start.column },
  end: { line: end.line, character: end.column },
});

/** Serves on stdin and stdout until the client says exit. */
export function serveStdio(): void {
  serve(createConnection(ProposedFeatures.all, process.stdin, process.stdout));
}

function serve(connection: Connection): void {
  const documents = new TextDocuments(TextDocument);
  const judgements = new Map<string, Judgements>();
  connection.onInitialize(() => ({
    capabilities: {
      textDocumentSync: TextDocumentSyncKind.Incremental,
      hoverProvider: true,
      definitionProvider: true,
      completionProvider: { triggerCharacters: ["{", ",", "=", " "] },
      documentFormattingProvider: true,
      codeActionProvider: { codeActionKinds: [CodeActionKind.QuickFix] },
    },
    serverInfo: { name: "tilec" },
  }));
  documents.onDidChangeContent(({ document }) => {
    const { uri, version } = document;
    const before = judgements.get(uri) ?? new Judgements(settings);
    judgements.set(uri, before);
    const diagnostics = diagnose(document.getText(), fileOf(uri), settings, before).map(presented);
    void connection.sendDiagnostics({ uri, version, diagnostics });
  });
  documents.onDidClose(({ document: { uri } }) => {
    judgements.delete(uri);
    void connection.sendDiagnostics({ uri, diagnostics: [] });
  });
  connection.onHover(({ textDocument: { uri }, position }) => {
    const text = documents.get(uri)?.getText() ?? "";
    const place = { line: position.line, column: position.character };
    const value = hover(text, fileOf(uri), place, settings);
    return value === undefined ? null : { contents: { kind: "markdown", value } };
  });
  connection.onCompletion(({ textDocument: { uri }, position: { line, character } }) => {
    const text = documents.get(uri)?.getText() ?? "";
    const found = completions(text, { line, column: character });
    if (found === undefined) return null;
    const range = { start: { line, character: found.from }, end: { line, character } };
    return found.options.map(({ label, detail }) => ({ label, detail, textEdit: { range, newText: label } }));
  });
  connection.onDefinition(({ textDocument: { uri }, position }) => {
    const text = documents.get(uri)?.getText() ?? "";
    const found = definition(text, { line: position.line, column: position.character });
    return found === undefined ? null : { uri, range: lspRange(found) };
  });
  connection.onDocumentFormatting(({ textDocument: { uri } }) => {
    const document = documents.get(uri);
    const text = document === undefined ? undefined : formatted(document.getText(), fileOf(uri));
    if (document === undefined || text === undefined) return null;
    const end = document.positionAt(document.getText().length);
    return [{ range: { start: { line: 0, character: 0 }, end }, newText: text }];
  });
  connection.onCodeAction(({ textDocument: { uri }, range }) => {
    const text = documents.get(uri)?.getText() ?? "";
    const before = judgements.get(uri) ?? new Judgements(settings);
    return diagnose(text, fileOf(uri), settings, before).flatMap((diagnostic) => {
      const { start, end } = rangeOf(diagnostic);
      if (start.line > range.end.line || end.line < range.start.line) return [];
      const fix = fixOf(text, fileOf(uri), diagnostic, settings, before);
      if (fix === undefined) return [];
      const edit = { changes: { [uri]: [{ range: lspRange(fix.range), newText: fix.text }] } };
      return [
        { title: fix.title, kind: CodeActionKind.QuickFix, diagnostics: [presented(diagnostic)], edit },
      ];
    });
  });
  documents.listen(connection);
  connection.listen();
}

const presented = (diagnostic: Diagnostic): LspDiagnostic => {
  const { severity, code, message, notes = [], hint } = diagnostic;
  const said = [
    message,
    ...notes.map((note) => `note: ${note}`),
    ...(hint === undefined ? [] : [`hint: ${hint}`]),
  ];
  return {
    range: lspRange(rangeOf(diagnostic)),
    severity: severities[severity],
    code,
    source: "tilec",
    message: said.join("\n"),
  };
};
