import { post, startWire } from "./support.ts";
import { anthropic } from "./wires/anthropic.ts";
import { google, mistral } from "./wires/mistral-and-google.ts";
import { completions, responses } from "./wires/openai.ts";
import type { Wire } from "./wires/wire.ts";

/** A picture in base64. */
const data = "A".repeat(300_000);
const url = `data:image/png;base64,${data}`;

/** How many bytes count of a request whose one message has this content. */
async function countedOf(wire: Wire, content: object): Promise<number> {
  const { gateway, plainUrl } = await startWire(wire, (_asked, response) => response.destroy());
  await post(plainUrl, { ...wire.plainBody, ...content });
  return gateway.meter.plans[0]?.requestBytes ?? 0;
}

const message = (part: object) => ({ messages: [{ role: "user", content: [part] }] });
const turn = (part: object) => ({ contents: [{ role: "user", parts: [part] }] });
const source = { type: "base64", media_type: "image/png", data };
const image = { type: "image", source };
const inlineData = { mimeType: "image/png", data };
const input = { role: "user", content: [{ type: "input_image", image_url: url }] };

test.each<readonly [Wire, object]>([
  [anthropic, message(image)],
  [anthropic, message({ type: "tool_result", tool_use_id: "t", content: [image] })],
  [completions, message({ type: "image_url", image_url: { url } })],
  [mistral, message({ type: "image_url", image_url: url })],
  [responses, { input: [input] }],
  [google, turn({ inlineData })],
  [google, turn({ inline_data: { mime_type: "image/png", data } })],
])(
  "the model gateway estimates an image by its highest possible cost, not by its bytes: $title",
  async (wire, content) => {
    const counted = await countedOf(wire, content);
    expect(counted).toBeGreaterThan(48_000);
    expect(counted).toBeLessThan(50_000);
  },
);

const pdf = { ...source, media_type: "application/pdf" };
test.each<readonly [string, Wire, object]>([
  ["a text", completions, message({ type: "text", text: url })],
  [
    "a function's result",
    google,
    turn({ functionResponse: { name: "f", response: { inlineData } } }),
  ],
  [
    "a tool call's argument",
    anthropic,
    message({ type: "tool_use", id: "t", name: "f", input: source }),
  ],
  ["a document", anthropic, message({ type: "document", source: pdf })],
  ["a tool's schema", anthropic, { tools: [{ name: "f", input_schema: { default: source } }] }],
])("the model gateway counts all bytes of base64 data in %s", async (_name, wire, content) => {
  expect(await countedOf(wire, content)).toBeGreaterThan(data.length);
});
