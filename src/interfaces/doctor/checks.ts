import { agents } from "./checks/agents.ts";
import { alerts } from "./checks/alerts.ts";
import { apiKey } from "./checks/api-key.ts";
import { budget } from "./checks/budget.ts";
import { cluster } from "./checks/cluster.ts";
import { clock } from "./checks/clock.ts";
import { closedNetwork } from "./checks/closed-network.ts";
import { config } from "./checks/config.ts";
import { containers } from "./checks/containers.ts";
import { credentials } from "./checks/credentials.ts";
import { dashboardSecret } from "./checks/dashboard-secret.ts";
import { database } from "./checks/database.ts";
import { disk } from "./checks/disk.ts";
import { dockerfiles } from "./checks/dockerfiles.ts";
import { editor } from "./checks/editor.ts";
import { engine } from "./checks/engine.ts";
import { hosts } from "./checks/hosts.ts";
import { hostUser } from "./checks/host-user.ts";
import { models } from "./checks/models.ts";
import { network } from "./checks/network.ts";
import { permissions } from "./checks/permissions.ts";
import { port } from "./checks/port.ts";
import { scheduler } from "./checks/scheduler.ts";
import { schedules } from "./checks/schedules.ts";
import { watches } from "./checks/watches.ts";
import { webhooks } from "./checks/webhooks.ts";
import type { Check } from "./finding.ts";

/** All checks in the order in which they run. */
export const checks: readonly Check[] = [
  config,
  agents,
  // Before those that read secrets: what is open to others is not read.
  permissions,
  apiKey,
  models,
  budget,
  credentials,
  webhooks,
  alerts,
  schedules,
  network,
  hostUser,
  closedNetwork,
  hosts,
  engine,
  cluster,
  dockerfiles,
  scheduler,
  containers,
  port,
  disk,
  watches,
  clock,
  database,
  dashboardSecret,
  editor,
];
