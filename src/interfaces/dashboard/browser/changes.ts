import { watchScheduler } from "./tab.ts";

watchScheduler(false);
