// The room of proxies that the environment names.

import type { Environment } from "../credentials.ts";

const names = ["HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy"];

/** Whether connections are to be made by way of a proxy. */
export const namesProxy = (env: Environment): boolean => names.some((name) => env[name]);
