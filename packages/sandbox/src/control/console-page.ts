import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import { serveStatic } from '@hono/node-server/serve-static'
import type { MiddlewareHandler } from 'hono'
import { secureHeaders } from 'hono/secure-headers'

/** Folder of the built console page. The path is right from the sources and from the build. */
const builtPage = fileURLToPath(new URL('../../console/dist/', import.meta.url))

export function consolePage(folder: string = builtPage): MiddlewareHandler {
  return existsSync(folder) ? serveStatic({ root: folder }) : (_, next) => next()
}

/** Lets the page load files of its own origin only, and nothing inline. */
export const securityHeaders: MiddlewareHandler = secureHeaders({
  strictTransportSecurity: false,
  contentSecurityPolicy: {
    defaultSrc: ["'none'"],
    scriptSrc: ["'self'"],
    styleSrc: ["'self'"],
    imgSrc: ["'self'", 'data:'],
    connectSrc: ["'self'"],
    baseUri: ["'none'"],
    formAction: ["'none'"],
    frameAncestors: ["'none'"],
  },
})
