import { CLIENT_PRINCIPAL } from "../config/node-names.ts";

/** SPEC N6, to the letter: operators and installers look for it. */
export const READY_LINE = `client_id=${CLIENT_PRINCIPAL} is serving - the pool is ready`;
