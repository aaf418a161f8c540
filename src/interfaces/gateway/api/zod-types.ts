import type { IncomingMessage, ServerResponse } from "node:http";
import type {
  FastifyBaseLogger,
  FastifyInstance,
  FastifyTypeProvider,
  RawServerDefault,
} from "fastify";
import { z } from "zod";
import { schemaProblems } from "../../../foundation/contracts/schema-problems.ts";
import { HttpProblem } from "../problem.ts";

/** Gives handlers the types of their route's schemas: what was parsed, and what may be answered. */
interface ZodTypes extends FastifyTypeProvider {
  readonly validator: this["schema"] extends z.ZodType ? z.output<this["schema"]> : unknown;
  readonly serializer: this["schema"] extends z.ZodType ? z.input<this["schema"]> : unknown;
}

type ZodApp = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  ZodTypes
>;

declare module "fastify" {
  interface FastifySchema {
    /** One line for the API's description. */
    summary?: string;
    description?: string;
    /** Heading that the route is described under. */
    tag?: string;
    /** Statuses of the problems that the route may answer, beyond those of every route. */
    problems?: readonly number[];
    /** Media types of the body; JSON without. */
    consumes?: readonly string[];
    /** Media type of the answer; JSON without. */
    produces?: string;
    /** Schemas of a stream's events, by the events' names. */
    events?: Readonly<Record<string, z.ZodType>>;
  }
}

/** The same app, whose routes' schemas are zod's. */
export function withZod(app: FastifyInstance): ZodApp {
  return app.withTypeProvider<ZodTypes>();
}

const partNames: Readonly<Record<string, string>> = { querystring: "query", params: "path" };

/** Has a route's schemas parse what comes in; a 400 names each wrong field. */
export function useZod(app: FastifyInstance): void {
  app.setValidatorCompiler<unknown>(({ schema, httpPart = "" }) => {
    if (!(schema instanceof z.ZodType)) throw new Error("a route's schema is not a zod schema");
    return (input: unknown) => {
      const result = schema.safeParse(input);
      if (result.success) return { value: result.data };
      return { error: malformed(partNames[httpPart] ?? httpPart, result.error) };
    };
  });
  // TypeScript has checked that an answer has its schema's type.
  app.setSerializerCompiler(() => (answer) => JSON.stringify(answer));
}

function malformed(part: string, error: z.ZodError): HttpProblem {
  return new HttpProblem(400, "malformed", `The ${part} is malformed: ${schemaProblems(error)}.`);
}
