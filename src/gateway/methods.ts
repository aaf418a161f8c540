import type { FastifyInstance, HTTPMethods } from "fastify";
import { HttpProblem } from "./problem.ts";

const allMethods: readonly HTTPMethods[] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

/** Collects the methods of every route from now on. Call it before the routes, `answerOthers` after them. */
export function collectMethods(app: FastifyInstance): { answerOthers(): void } {
  const methodsByUrl = new Map<string, Set<string>>();
  app.addHook("onRoute", (route) => {
    const methods = methodsByUrl.get(route.url) ?? new Set();
    methodsByUrl.set(route.url, methods);
    for (const method of [route.method].flat()) methods.add(method);
  });
  return {
    /** OPTIONS tells what a path allows, and any other method is a 405 instead of a 404. */
    answerOthers() {
      for (const [url, methods] of [...methodsByUrl]) {
        const allow = [...methods, "OPTIONS"].join(", ");
        app.options(url, (_request, reply) => reply.code(204).header("allow", allow).send());
        const others = allMethods.filter((method) => !methods.has(method));
        app.route({
          method: others,
          url,
          exposeHeadRoute: false,
          handler: (request) => {
            const detail = `${request.method} is not possible here, only ${allow}.`;
            throw new HttpProblem(405, "method_not_allowed", detail, { headers: { allow } });
          },
        });
      }
    },
  };
}
