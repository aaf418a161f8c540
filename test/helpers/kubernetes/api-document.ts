import { Ajv } from "ajv";
import type { ValidateFunction } from "ajv";

/** One request that the API server knows. */
export interface ApiOperation {
  /** Such as `GET`. */
  readonly method: string;
  /** Such as `/apis/batch/v1/namespaces/{namespace}/jobs`. */
  readonly path: string;
  /** Name to JSON type. */
  readonly query: Readonly<Record<string, string>>;
  /** Name in `schemas`; null for none. */
  readonly body: string | null;
  /** HTTP status to name in `schemas`, or to null for a text. */
  readonly answers: Readonly<Record<string, string | null>>;
}

/** What the OpenAPI of an API server says, whatever its version. */
export interface ApiDocument {
  /** Where it is from. */
  readonly source: string;
  readonly operations: readonly ApiOperation[];
  /** JSON Schemas, which refer to each other by `#/definitions/<name>`. */
  readonly schemas: Readonly<Record<string, object>>;
}

/** Checks requests and answers against a document. Fields that it does not have are wrong, as with `--validate=strict`. */
export function checkAgainst(document: ApiDocument) {
  const ajv = new Ajv({ strict: false, allErrors: true, formats });
  ajv.addSchema({ $id: "api", definitions: document.schemas });
  const validators = new Map<string, ValidateFunction>();
  const problems = (schema: string, value: unknown): string[] => {
    const found = validators.get(schema);
    const validate = found ?? ajv.compile({ $ref: `api#/definitions/${schema}` });
    validators.set(schema, validate);
    if (validate(value)) return [];
    return (validate.errors ?? []).map(
      ({ instancePath, message = "", params }) =>
        `${schema}${instancePath} ${message} ${JSON.stringify(params)}`,
    );
  };
  const find = (method: string, { pathname }: URL) =>
    document.operations.find((known) => known.method === method && matches(known.path, pathname));
  return {
    /** What is wrong with a request: empty for one that the server knows. */
    request: (method: string, url: URL, body: unknown): readonly string[] => {
      const operation = find(method, url);
      if (operation === undefined) return [`${method} ${url.pathname} is not known`];
      const query = [...url.searchParams].flatMap(([name, value]) =>
        queryProblems(operation, name, value),
      );
      if (body === undefined) return query;
      if (operation.body === null) return [...query, `${method} ${url.pathname} takes no body`];
      return [...query, ...problems(operation.body, body)];
    },
    /** The same of the answer to it. */
    answer: (method: string, url: URL, status: number, body: unknown): readonly string[] => {
      if (status >= 400) return problems(schemaOfKind(document, "Status"), body);
      const answers = find(method, url)?.answers ?? {};
      const schema = answers[String(status)];
      if (schema === undefined) return [`${method} ${url.pathname} is not answered by ${status}`];
      return schema === null ? [] : problems(schema, body);
    },
  };
}

export type ApiCheck = ReturnType<typeof checkAgainst>;

/** Its name in the documents is either `V1Job` or ends in `.v1.Job`. */
function schemaOfKind({ schemas }: ApiDocument, kind: string): string {
  const name = Object.keys(schemas).find(
    (schema) => schema === `V1${kind}` || schema.endsWith(`.v1.${kind}`),
  );
  if (name === undefined) throw new Error(`the document has no schema of ${kind}`);
  return name;
}

function matches(template: string, path: string): boolean {
  const [wanted, given] = [template.split("/"), path.split("/")];
  return (
    wanted.length === given.length &&
    wanted.every((part, index) => part === given[index] || /^\{.+\}$/.test(part))
  );
}

function queryProblems({ query, path }: ApiOperation, name: string, value: string): string[] {
  const type = query[name];
  if (type === undefined) return [`${path} takes no parameter ${name}`];
  const holds =
    (type === "boolean" && /^(true|false)$/.test(value)) ||
    (type === "integer" && /^\d+$/.test(value)) ||
    type === "string";
  return holds ? [] : [`${path}: ${name}=${value} is no ${type}`];
}

const formats = {
  byte: /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/,
  "date-time": /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/,
  "int-or-string": true,
  int32: { type: "number", validate: (value: number) => Math.abs(value) < 2 ** 31 },
  int64: { type: "number", validate: (value: number) => Number.isSafeInteger(value) },
  double: true,
} as const;
