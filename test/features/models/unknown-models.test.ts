import { usualModel } from "../../../src/interfaces/cli/new/templates.ts";
import { unknownModels } from "../../../src/features/models/unknown-models.ts";
import { aModelConfig } from "../../helpers/agents.ts";
import { providers, type ModelConfig } from "../../../streams/agent-config.ts";

const model = (
  provider: ModelConfig["provider"],
  name: string,
  more: Partial<ModelConfig> = {},
): ModelConfig => aModelConfig({ name: "m", provider, model: name, ...more });

test("the warning about an unknown model shows the assumed values and how to set them", async () => {
  const [gpt, claude] = await unknownModels([
    model("openai", "gpt-6"),
    model("anthropic", "claude-opus-6"),
  ]);
  expect(gpt).toMatchObject({
    name: "m",
    fix: expect.stringContaining("set contextWindow under [models.m] in config.toml") as string,
    setting: "models.m.contextWindow=272000",
  });
  expect(gpt?.problem).toMatch(
    /^model m: "gpt-6" is not in .* 272,000 tokens, no limit of an answer and the API openai-responses/,
  );
  expect(claude?.problem).toContain("200,000 tokens, answers of up to 64,000 tokens");
});

test("a misspelled model name gets a suggestion, another version of a known model does not", async () => {
  const [slip, version] = await unknownModels([
    model("mistral", "mistral-lage-latest"),
    model("mistral", "mistral-small-2909"),
  ]);
  expect(slip?.problem).toContain('; did you mean "mistral-large-latest"? Otherwise');
  expect(version?.problem).not.toContain("did you mean");
});

test("a model is known if it is listed, its context window is set, or its provider has no list", async () => {
  const proposed = providers
    .map(usualModel)
    .map((one) => model(one.provider, one.model, { name: one.name }));
  const set = model("openai", "gpt-6", { contextWindow: 300_000 });
  expect(await unknownModels([...proposed, set, model("custom", "llama")])).toEqual([]);
});
