import { z } from "zod";
import { requestRows, schedulerRequests } from "../../../src/runtime/wire/requests/table.ts";
import type { RequestRow } from "../../../src/runtime/wire/requests/row.ts";

// `vitest run <this file> -u` writes it anew.
test("the reference page of a run's requests is up to date with the code", () =>
  expect(page()).toMatchFileSnapshot("../../../src/runtime/harness/reference.md"));

function page(): string {
  const offered = requestRows.filter(([, row]) => row.tool !== undefined);
  const summary = offered.map(([, { tool, command }]) => [
    `\`${tool?.name}\``,
    `\`${command?.usage}\``,
    command?.purpose ?? "",
  ]);
  return `${[
    "# Requests of a run",
    "A run makes each request with a tool of pi, or with a command in its shell.",
    tableOf(["tool", "command", "does"], summary),
    ...offered.flatMap(([name, row]) => sectionOf(name, row)),
  ].join("\n\n")}\n`;
}

function sectionOf(name: string, { request, answer, tool }: RequestRow): readonly string[] {
  const route = Object.hasOwn(schedulerRequests, name)
    ? `Route of the run's socket: \`POST /run/${name}\`.`
    : "The run performs it, without the scheduler.";
  const asked = fieldsOf(request(z));
  const answered = fieldsOf(answer(z)).map(([field = "", type = ""]) => `${field} (${type})`);
  return [
    `## ${tool?.name}`,
    tool?.description ?? "",
    ...(asked.length === 0 ? [] : [tableOf(["field", "type", ""], asked)]),
    `${route} Response: ${answered.join(", ")}.`,
  ];
}

function fieldsOf(schema: z.ZodObject): readonly (readonly string[])[] {
  const { properties = {}, required = [] } = z.toJSONSchema(schema, { io: "input" });
  return Object.entries(properties).map(([name, property]) => {
    const { description = "" } = property as z.core.JSONSchema.BaseSchema;
    const optional = required.includes(name) ? "" : ", optional";
    return [`\`${name}\``, `${typeOf(property)}${optional}`, description];
  });
}

function typeOf(schema: z.core.JSONSchema._JSONSchema): string {
  if (typeof schema === "boolean") return "any JSON value";
  if (schema.enum !== undefined)
    return schema.enum.map((value) => `\`${String(value)}\``).join(" or ");
  if (schema.const !== undefined) return `\`${String(schema.const)}\``;
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeOf).join(" or ");
  if (schema.type === "array")
    return `list of ${typeOf(schema.items as z.core.JSONSchema.BaseSchema)}`;
  return typeof schema.type === "string" ? schema.type : "any JSON value";
}

function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), `|${head.map(() => "---").join("|")}|`, ...rows.map(line)].join("\n");
}
