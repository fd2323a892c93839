"""A session of a client that checks the messages of a server against the types of
the protocol: pytest-lsp, which is built on pygls."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import shutil

import lsprotocol.types as lsp
import pytest_lsp
from pytest_lsp import ClientServerConfig, LanguageClient

URI = "file:///session/a.pipe"
TEXT = """\
schedule a(ranks p = 2, microbatches m = 4) {
  placement loop;
  let w = min(p - rank, m);
  warmup   { repeat w { F } }
  steady   { repeat m - w { F B } }
  cooldown { repeat w { B } }
}
"""


@pytest_lsp.fixture(config=ClientServerConfig(server_command=[shutil.which("pipec-lsp")]))
async def client(lsp_client: LanguageClient):
    result = await lsp_client.initialize_session(
        lsp.InitializeParams(capabilities=pytest_lsp.client_capabilities("visual-studio-code"),
                             workspace_folders=[lsp.WorkspaceFolder(uri="file:///session", name="session")]))
    provided = result.capabilities
    assert all((provided.hover_provider, provided.completion_provider, provided.definition_provider,
                provided.references_provider, provided.rename_provider, provided.document_formatting_provider,
                provided.document_symbol_provider, provided.inlay_hint_provider, provided.code_action_provider,
                provided.signature_help_provider, provided.code_lens_provider))
    yield
    await lsp_client.shutdown_session()


async def open_text(client, text):
    client.text_document_did_open(lsp.DidOpenTextDocumentParams(
        text_document=lsp.TextDocumentItem(uri=URI, language_id="pipe", version=1, text=text)))
    await client.wait_for_notification(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    return client.diagnostics[URI]


def at(text, line, word):
    return {"text_document": lsp.TextDocumentIdentifier(uri=URI),
            "position": lsp.Position(line=line, character=text.split("\n")[line].index(word))}


async def test_correction(client):
    text = TEXT.replace("repeat m", "repat m")
    found, = await open_text(client, text)
    assert found.severity == lsp.DiagnosticSeverity.Error
    assert "/Diagnostics/" in found.code_description.href
    actions = await client.text_document_code_action_async(lsp.CodeActionParams(
        text_document=lsp.TextDocumentIdentifier(uri=URI), range=found.range,
        context=lsp.CodeActionContext(diagnostics=[found])))
    edit, = actions[0].edit.changes[URI]
    line = text.split("\n")[4]
    assert line[:edit.range.start.character] + edit.new_text + line[edit.range.end.character:] == TEXT.split("\n")[4]


async def test_names(client):
    assert not await open_text(client, TEXT)
    hover = await client.text_document_hover_async(lsp.HoverParams(**at(TEXT, 3, "w {")))
    assert "min(p - rank, m)" in hover.contents.value
    place = await client.text_document_definition_async(lsp.DefinitionParams(**at(TEXT, 3, "w {")))
    assert (place[0] if isinstance(place, list) else place).range.start == at(TEXT, 2, "w =")["position"]
    uses = await client.text_document_references_async(lsp.ReferenceParams(
        context=lsp.ReferenceContext(include_declaration=True), **at(TEXT, 2, "w =")))
    assert len(uses) == 4
    edit = await client.text_document_rename_async(lsp.RenameParams(new_name="warm", **at(TEXT, 2, "w =")))
    assert [each.new_text for each in edit.changes[URI]] == ["warm"] * 4
    help = await client.text_document_signature_help_async(lsp.SignatureHelpParams(**at(TEXT, 2, "p - rank")))
    assert help.signatures[0].label == "min(a, b, ...)" and help.active_parameter == 0
    items = await client.text_document_completion_async(lsp.CompletionParams(**at(TEXT, 3, "F }")))
    assert {"w", "repeat"} <= {each.label for each in getattr(items, "items", items)}


async def test_whole_text(client):
    await open_text(client, TEXT.replace("  placement", "placement"))
    document = lsp.TextDocumentIdentifier(uri=URI)
    symbols = await client.text_document_document_symbol_async(lsp.DocumentSymbolParams(text_document=document))
    assert symbols[0].name == "a"
    whole = lsp.Range(start=lsp.Position(line=0, character=0), end=lsp.Position(line=7, character=0))
    hint, = await client.text_document_inlay_hint_async(lsp.InlayHintParams(text_document=document, range=whole))
    assert "makespan" in str(hint.label)
    lenses = await client.text_document_code_lens_async(lsp.CodeLensParams(text_document=document))
    assert [each.command.command for each in lenses] == ["pipec.derive", "pipec.search"]
    found = await client.workspace_execute_command_async(lsp.ExecuteCommandParams(
        command=lenses[1].command.command, arguments=lenses[1].command.arguments))
    assert "schedule found(" in found["text"], found
    edit, = await client.text_document_formatting_async(lsp.DocumentFormattingParams(
        text_document=document, options=lsp.FormattingOptions(tab_size=2, insert_spaces=True)))
    assert "\n  placement loop;\n" in edit.new_text
