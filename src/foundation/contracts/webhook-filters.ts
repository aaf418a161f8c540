/** One filter field that a `[[webhooks]]` entry may have. */
export interface FilterField {
  readonly kind: "strings" | "string" | "boolean";
  /** What it means, in one sentence for the reference page and the editor. */
  readonly meaning: string;
  /** The allowed values, where the provider has a closed set. */
  readonly values?: readonly string[];
}

/** Filter fields by provider type; its keys are the known types of `[webhooks.<source>]`. */
export type FilterTable = Readonly<Record<string, Readonly<Record<string, FilterField>>>>;

/** A `[webhooks.<source>]` of the project. */
export interface WebhookSource {
  readonly name: string;
  /** Provider type, a key of the filter table. */
  readonly type: string;
  /** Instance of that type's secret credential; null without. */
  readonly credential: string | null;
  readonly allowUnsigned: boolean;
}
