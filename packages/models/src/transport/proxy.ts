// The room of proxies named in the environment.

import type { Environment } from "../credentials.ts";

const names = ["HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy"];

/** Whether connections should go through a proxy. */
export const namesProxy = (env: Environment): boolean => names.some((name) => env[name]);
