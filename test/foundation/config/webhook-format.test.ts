import { resolveProject } from "../../../src/foundation/config/resolve-project.ts";
import { filters, refusal, said } from "./samples.ts";

const machine = { machineTimezone: "Europe/Berlin", machineCores: 6 };
const change = (keys: string, type = "generic") =>
  resolveProject(
    {
      dir: "/srv/project",
      text: `[webhooks.acme]\ntype = "${type}"\ncredential = "default"\n${keys}\n`,
      ...machine,
    },
    { ...filters, generic: {} },
  );

test("a generic source needs no more than its type, and keeps the keys that it has", () => {
  expect(said(change(""))).toEqual([]);
  const keys = `signature = "X-Acme"
algorithm = "sha512"
encoding = "base64"
prefix = "v1="
signed = "{id}.{time}.{body}"
id = "header:X-Id"
event = "event.type"
action = "event.action"
time = "header:X-Time"
tolerance = "90s"
fields = { title = "deploy.title", labels = "deploy.tags[].name" }`;
  const made = change(keys);
  expect(said(made)).toEqual([]);
  expect(made).toMatchObject({
    project: { webhooks: { acme: { prefix: "v1=", fields: { title: "deploy.title" } } } },
  });
});

test.each([
  ['signature = "X Acme"', "signature is "],
  ['algorithm = "sha1"', 'algorithm is "sha1"; expected one of "sha256", "sha512"'],
  ['encoding = "base65"', 'did you mean "base64"?'],
  ['signed = "{time}"', "signed is "],
  ['signed = "{body}{body}"', "signed is "],
  ['signed = "{url}.{body}"', "signed is "],
  // The ID's last digits could be read as the first ones of the time.
  ['signed = "{id}{time}{body}"\nid = "header:A"\ntime = "header:B"', "apart from each other"],
  ['signed = "{time}.{body}"', "signed contains {time}; name its header"],
  ['signed = "{id}.{body}"\nid = "event.id"', "signed contains {id}; name its header"],
  ['time = "header:X-Time"', "is a header that is not signed"],
  ['prefix = "v1,"', "prefix is "],
  ['time = "sent header:X-Time"', "time is "],
  ['time = "sent"\ntolerance = "never"', "tolerance is "],
  ['time = "sent"\ntolerance = "0s"', "tolerance is "],
  ['id = "header:"', "id is "],
  ['event = "event.type header:Authorization"', "event is "],
  ['id = "a..b"', "id is "],
  ['fields = { title = "a: b" }', "fields.title is "],
])("a generic source is refused with %j", (keys, why) =>
  expect(refusal(change(keys))).toContain(why),
);

test("an unknown field of a generic source is a warning with the nearest name", () =>
  expect(said(change('fields = { titel = "a" }')).join()).toContain('did you mean "title"?'));

test("keys of a generic source are refused for another type", () =>
  expect(refusal(change('signature = "X-Acme"', "github"))).toContain(
    'webhooks.acme.signature applies to type "generic" only',
  ));
