import { anthropic } from "./anthropic.ts";
import { google, mistral } from "./mistral-and-google.ts";
import { completions, responses } from "./openai.ts";
import type { Wire } from "./wire.ts";

export const wires: readonly Wire[] = [anthropic, responses, completions, mistral, google];
