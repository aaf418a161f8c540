import type { SchemaProblem } from "./compile-schema.ts";

/** What the worker is asked: what is wrong with a schema, or with a value that has to meet it, as JSON text. */
export interface SchemaRequest {
  readonly schema: string;
  /** Null to check only the schema. */
  readonly value: string | null;
}

export type SchemaAnswer =
  | { readonly type: "ready" }
  /** Null for a schema that can be used. */
  | { readonly type: "schema"; readonly problem: SchemaProblem | null }
  /** Null for a value that meets it. */
  | { readonly type: "value"; readonly reason: string | null };
