import { watchAlerts } from "./tab.ts";

watchAlerts(false);
