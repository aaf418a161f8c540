import type { FastifyHelmetOptions } from "@fastify/helmet";

/**
 * What pages may do: run and style only what carries this answer's nonce, talk only to this gateway, be framed by
 * nobody. No rule makes a browser insist on TLS, because the gateway is served without it as well.
 */
export const securityHeaders: FastifyHelmetOptions = {
  enableCSPNonces: true,
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: ["'none'"],
      scriptSrc: [],
      styleSrc: [],
      imgSrc: ["'self'", "data:"],
      connectSrc: ["'self'"],
      formAction: ["'self'"],
      baseUri: ["'none'"],
      frameAncestors: ["'none'"],
    },
  },
  // Same-origin and not none, because without it a form's `Origin` would be `null`.
  referrerPolicy: { policy: "same-origin" },
  strictTransportSecurity: false,
  originAgentCluster: false,
  crossOriginOpenerPolicy: false,
};
