import fc from "fast-check";
import {
  checkedRequest,
  rebuiltRequest,
} from "../../../../src/runtime/run-api/model-gateway/plan-call.ts";
import { GatewayProblem } from "../../../../src/runtime/run-api/model-gateway/gateway-problem.ts";
import type { Json } from "../../../../src/runtime/wire/json.ts";
import type {
  Objects,
  Shape,
} from "../../../../src/runtime/run-api/model-gateway/request-shape.ts";
import { wireApis } from "../../../../src/runtime/run-api/model-gateway/wire-apis.ts";
import { passing, refused } from "./beyond-answer.ts";
import { emptyAnswer, post, startWire, upstreamModel } from "./support.ts";
import { google } from "./wires/mistral-and-google.ts";
import { completions } from "./wires/openai.ts";
import type { Wire } from "./wires/wire.ts";
import { wires } from "./wires/wires.ts";

const apiOf = ({ model }: Wire) => wireApis[model.api ?? "openai-completions"];

/** Another way to write a value: fields in other case or twice, an object in place of a list, a list in a list. */
function rewritten(value: unknown, next: () => number): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item) => rewritten(item, next));
    const way = next();
    return way === 1 && items.length === 1 ? items[0] : way === 2 ? [items] : items;
  }
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]): [string, unknown][] => {
      const field: [string, unknown] = [name, rewritten(inner, next)];
      const twin: [string, unknown] = [twinOf(name), null];
      const way = next();
      if (way === 1) return [[capitalized(name), field[1]]];
      if (way === 2) return [[name.toUpperCase(), field[1]]];
      if (twin[0] === name || way > 4) return [field];
      return way === 3 ? [field, twin] : [twin, field];
    }),
  );
}

const capitalized = (name: string) => name.replace(/(^|_)[a-z]/g, (text) => text.toUpperCase());
const twinOf = (name: string) =>
  name.includes("_")
    ? name.replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase())
    : name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const ways = fc.array(fc.nat(9), { minLength: 1, maxLength: 40 });

function from(choices: readonly number[]): () => number {
  let at = 0;
  return () => choices[at++ % choices.length] ?? 0;
}

/** A field of a table, by the path to it. */
interface Field {
  readonly path: readonly string[];
  readonly shapes: readonly Shape[];
}

function fieldsOf(shape: Objects, above: Field = { path: [], shapes: [] }): readonly Field[] {
  return Object.entries(shape.fields).flatMap(([name, inner]) => {
    const field = { path: [...above.path, name], shapes: [...above.shapes, inner] };
    return [field, ...(typeof inner === "string" ? [] : fieldsOf(inner, field))];
  });
}

const isList = (shape: Shape | undefined) => typeof shape === "object" && shape.form === "list";

/** A request with this value at a path, where each list has one item. */
function requestWith({ path, shapes }: Field, value: unknown): Json {
  const [name = "", ...rest] = path;
  const inner =
    rest.length === 0 ? value : requestWith({ path: rest, shapes: shapes.slice(1) }, value);
  return { [name]: isList(shapes[0]) && !Array.isArray(inner) && inner !== null ? [inner] : inner };
}

describe.each(wires)("the table of allowed request fields of $title", (wire) => {
  const api = apiOf(wire);
  const rebuilt = (body: Json) => rebuiltRequest(body, api, upstreamModel);
  const fields = fieldsOf(api.request).map((field) => ({ ...field, name: field.path.join(".") }));
  const names = new Set(fields.map(({ name }) => name));

  test("accepts each field unchanged, and rejects other letter cases or types", () => {
    for (const field of fields) {
      const right = typeof field.shapes.at(-1) === "object" ? {} : "x";
      const request = requestWith(field, right);
      expect(rebuilt(request), field.name).toEqual(request);
      expect(() => rebuilt(requestWith(field, null)), field.name).not.toThrow();
      for (const other of otherForms(field.shapes.at(-1))) {
        expect(() => rebuilt(requestWith(field, other)), field.name).toThrow(GatewayProblem);
      }
      const last = field.path.at(-1) ?? "";
      for (const name of [last.toUpperCase(), capitalized(last), `${last}x`]) {
        const path = [...field.path.slice(0, -1), name];
        if (names.has(path.join("."))) continue;
        const misspelled = requestWith({ ...field, path }, right);
        expect(() => rebuilt(misspelled), path.join(".")).toThrow(/extraFields of \[models\.one\]/);
      }
    }
  });

  test("wraps one object into a list where the API expects a list", () => {
    for (const field of fields.filter(({ shapes }) => isList(shapes.at(-1)))) {
      const shapes = [...field.shapes.slice(0, -1), "json" as const];
      const sent = rebuilt(requestWith({ ...field, shapes }, {}));
      expect(sent, field.name).toEqual(requestWith(field, [{}]));
    }
  });
});

/** Values that a field of this shape can't have. */
function otherForms(shape: Shape | undefined): readonly unknown[] {
  if (typeof shape !== "object") return shape === "json" ? [] : [{ x: 1 }, [["x"]]];
  return [[[{}]], 1, ...(shape.orText ? [] : ["x"]), ...(shape.form === "object" ? [[{}]] : [])];
}

const checked = (wire: Wire, body: object, providerTools: readonly string[] = []) => {
  const model = { ...upstreamModel, ...wire.model, providerTools };
  return checkedRequest({ ...wire.plainBody, ...body }, apiOf(wire), model);
};

test.each(refused)(
  "the model gateway rejects a provider-side feature in any spelling unless providerTools lists it: $title",
  ({ wire, name, more }) => {
    expect(() => checked(wire, more)).toThrow(`"${name}"`);
    expect(() => checked(wire, more, [name])).not.toThrow();
    fc.assert(
      fc.property(ways, (choices) => {
        const body = rewritten(more, from(choices)) as object;
        expect(() => checked(wire, body)).toThrow(GatewayProblem);
      }),
    );
  },
);

test.each(passing)(
  "the model gateway accepts a request with client-side tools and data: $title",
  (wire, more) => expect(() => checked(wire, more)).not.toThrow(),
);

describe("fields of the Gemini API in snake case", () => {
  const rebuilt = (body: Json) => rebuiltRequest(body, apiOf(google), upstreamModel);

  test("are sent in camel case", () => {
    const file_data = { mime_type: "image/png" };
    const sent = rebuilt({ contents: [{ parts: [{ file_data }] }], tool_config: { a_b: 1 } });
    const fileData = { mimeType: "image/png" };
    expect(sent).toEqual({ contents: [{ parts: [{ fileData }] }], toolConfig: { a_b: 1 } });
  });

  test("are rejected if the same object has them in camel case", () => {
    const part = { fileData: { fileUri: "https://attacker.example" }, file_data: null };
    const request = { contents: [{ parts: [part] }] };
    expect(() => rebuilt(request)).toThrow(/"fileData" in two spellings/);
  });
});

describe("an undocumented field of a model request", () => {
  async function ask(more: string, extraFields: readonly string[] = []) {
    const { provider, url } = await startWire(completions, emptyAnswer, { model: { extraFields } });
    const { status, text } = await post(url, `{"messages":[],${more}}`);
    return { status, text, sent: provider.asked[0]?.json };
  }

  test.each(['"num_predict":9', '"Model":"dear"', '"constructor":1', '"__proto__":{"n":5}'])(
    "is rejected: %s",
    async (field) => {
      const { status, text, sent } = await ask(field);
      expect([status, sent]).toEqual([400, undefined]);
      expect(text).toContain("extraFields of [models.one]");
    },
  );

  test("is forwarded only if extraFields lists it", async () => {
    const extra = ["num_predict", "options.num_predict", "messages.content.image_url.uuid"];
    const image_url = { url: "data:,", uuid: { any: [1] } };
    const more = {
      num_predict: 9,
      options: { num_predict: 9 },
      messages: [{ role: "user", content: [{ type: "image_url", image_url }] }],
    };
    expect((await ask(JSON.stringify(more).slice(1, -1), extra)).sent).toMatchObject(more);
    const { status, text } = await ask('"options":{"num_predict":1,"num_ctx":1}', extra);
    expect([status, text]).toEqual([400, expect.stringContaining("options.num_ctx")]);
  });
});
