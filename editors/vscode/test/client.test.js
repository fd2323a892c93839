// The client, with stand-ins for the editor and for the connection.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

const assert = require("node:assert");
const Module = require("node:module");
const test = require("node:test");

const commands = new Map();
const saved = [];
const shown = { errors: [], panels: [], documents: [] };
const clients = [];
const document = { languageId: "pipe", uri: "file:///a.pipe" };

const vscode = {
  commands: {
    registerCommand: (name, run) => (commands.set(name, run), {}),
    executeCommand: async () => undefined,
  },
  ViewColumn: { Beside: -2 },
  window: {
    activeTextEditor: { document },
    showTextDocument: async (opened) => void shown.documents.push(opened),
    showErrorMessage: async (text) => void shown.errors.push(text),
    createWebviewPanel: (type, title) => {
      const panel = { title, webview: { html: "" }, onDidDispose: (run) => (panel.close = run), reveal() {} };
      shown.panels.push(panel);
      return panel;
    },
  },
  workspace: {
    openTextDocument: async (options) => options,
    getConfiguration: () => ({ get: () => "/opt/pipec-lsp" }),
    onDidSaveTextDocument: (run) => (saved.push(run), {}),
  },
};

class LanguageClient {
  constructor(id, name, server, options) {
    Object.assign(this, { server, options, requests: [], running: false });
    this.code2ProtocolConverter = { asUri: (uri) => uri };
    clients.push(this);
  }
  async start() {
    this.running = true;
  }
  async stop() {
    this.running = false;
  }
  async sendRequest(type, params) {
    this.requests.push(params);
    if (this.failure) {
      throw new Error(this.failure);
    }
    return { title: "a", format: "html", text: `<p>${this.requests.length}</p>` };
  }
}

const load = Module._load;
Module._load = (name, ...rest) => {
  if (name === "vscode") {
    return vscode;
  }
  if (name === "vscode-languageclient/node") {
    return { LanguageClient, ExecuteCommandRequest: { type: "execute" }, TransportKind: { stdio: 0 } };
  }
  return load(name, ...rest);
};
const extension = require("../out/extension.js");

test("the client starts the configured server and shows pictures", async () => {
  const context = { subscriptions: [] };
  await extension.activate(context);
  assert.equal(clients[0].server.command, "/opt/pipec-lsp");
  assert.ok(clients[0].running);
  assert.deepEqual(
    clients[0].options.documentSelector.map((each) => each.language),
    ["pipe", "pipec-steps"],
  );
  // Every command of the manifest is registered.
  const manifest = require("../package.json").contributes;
  assert.deepEqual([...commands.keys()].sort(), manifest.commands.map((each) => each.command).sort());

  await commands.get("pipec.openTimeline")();
  assert.deepEqual(clients[0].requests[0], { command: "pipec.showTimeline", arguments: ["file:///a.pipe"] });
  assert.equal(shown.panels[0].webview.html, "<p>1</p>");
  // The same panel again, and after a save.
  await commands.get("pipec.openTimeline")();
  await saved[0](document);
  assert.equal(shown.panels.length, 1);
  assert.equal(shown.panels[0].webview.html, "<p>3</p>");
  // Errors are shown, and the picture stays.
  clients[0].failure = "no schedule that can run";
  await commands.get("pipec.openTimeline")();
  assert.deepEqual(shown.errors, ["no schedule that can run"]);
  assert.equal(shown.panels[0].webview.html, "<p>3</p>");
  // A closed picture is not drawn again.
  shown.panels[0].close();
  await saved[0](document);
  assert.equal(clients[0].requests.length, 4);

  // A program that a search has found is opened; other answers pass through.
  const { executeCommand } = clients[0].options.middleware;
  const answers = { "pipec.search": { makespan: 13, text: "schedule found" }, "pipec.derive": { clauses: [] } };
  for (const [command, answer] of Object.entries(answers)) {
    assert.equal(await executeCommand(command, [], async () => answer), answer);
  }
  assert.equal(await executeCommand("pipec.search", [], async () => undefined), undefined);
  assert.deepEqual(shown.documents, [{ language: "pipe", content: "schedule found" }]);

  await commands.get("pipec.restart")();
  assert.ok(!clients[0].running && clients[1].running);
  await extension.deactivate();
  assert.ok(!clients[1].running);
});
