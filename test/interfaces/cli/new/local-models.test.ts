import { createServer, type ServerResponse } from "node:http";
import { localModels } from "../../../../src/interfaces/cli/new/local-models.ts";
import { listen } from "../../../helpers/listen.ts";

async function modelsOf(answer: (response: ServerResponse) => void): Promise<readonly string[]> {
  const server = createServer((_request, response) => answer(response));
  onTestFinished(() => void server.close());
  const baseUrl = `http://127.0.0.1:${await listen(server)}/v1`;
  return (await localModels([baseUrl])).map(({ model }) => model);
}

const listOf = (...ids: readonly string[]) => JSON.stringify({ data: ids.map((id) => ({ id })) });

test("al new omits models of a local server with control characters in the name", async () => {
  const list = listOf("qwen3:8b", "a\u001b[2Jb", "", "a\nb", "a\u202eb", "org/Modell-ü");
  expect(await modelsOf((response) => response.end(list))).toEqual(["qwen3:8b", "org/Modell-ü"]);
});

test("al new reads a server's list of models up to 1 MB", async () => {
  const of = (length: number) => modelsOf((response) => response.end(listOf("a".repeat(length))));
  expect(await of(1_000_000)).toHaveLength(1);
  expect(await of(1_100_000)).toEqual([]);
});
