import { post, startWire } from "./support.ts";
import { anthropic } from "./wires/anthropic.ts";
import { google, mistral } from "./wires/mistral-and-google.ts";
import { completions, responses } from "./wires/openai.ts";
import type { Wire } from "./wires/wire.ts";

/** A picture as tools take it, in base64. */
const data = "A".repeat(3_000_000);
const url = `data:image/png;base64,${data}`;
/** What a request with one picture may have beyond its text. */
const most = 50_000;

/** How many bytes count of a request whose one message has this content. */
async function countedOf(wire: Wire, content: object): Promise<number> {
  const { gateway, plainUrl } = await startWire(wire, (_asked, response) => response.destroy());
  await post(plainUrl, { ...wire.plainBody, ...content });
  return gateway.meter.plans[0]?.requestBytes ?? 0;
}

const messages = (...content: readonly object[]) => ({ messages: [{ role: "user", content }] });
const parts = (...all: readonly object[]) => ({ contents: [{ role: "user", parts: all }] });
const source = { type: "base64", media_type: "image/png", data };
const image = { type: "image", source };
const result = { type: "tool_result", tool_use_id: "t", content: [image] };
const inlineData = { mimeType: "image/png", data };

test.each<readonly [Wire, object]>([
  [anthropic, messages(image)],
  [anthropic, messages(result)],
  [completions, messages({ type: "image_url", image_url: { url } })],
  [mistral, messages({ type: "image_url", image_url: url })],
  [responses, { input: [{ role: "user", content: [{ type: "input_image", image_url: url }] }] }],
  [google, parts({ inlineData })],
  [google, parts({ inline_data: { mime_type: "image/png", data } })],
])(
  "a picture in a request counts as its highest cost, not as its bytes: $0.title",
  async (wire, content) => {
    const counted = await countedOf(wire, content);
    expect(counted).toBeGreaterThan(48_000);
    expect(counted).toBeLessThan(most);
  },
);

test.each<readonly [string, Wire, object]>([
  ["a text", completions, messages({ type: "text", text: url })],
  ["a result", google, parts({ functionResponse: { name: "f", response: { inlineData } } })],
  ["an argument", anthropic, messages({ type: "tool_use", id: "t", name: "f", input: source })],
  [
    "a document",
    anthropic,
    messages({ type: "document", source: { ...source, media_type: "application/pdf" } }),
  ],
  ["a tool", anthropic, { tools: [{ name: "f", input_schema: { default: source } }] }],
])("a picture in a request does not count where it is %s", async (_name, wire, content) => {
  expect(await countedOf(wire, content)).toBeGreaterThan(data.length);
});
