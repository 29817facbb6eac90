import { globSync, readFileSync } from 'node:fs'
import { extname, join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Folder of the built console page. The path is right from the sources and from the build. */
export const consoleFolder: string = fileURLToPath(new URL('../../console/dist/', import.meta.url))

const types: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.md': 'text/plain; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
}

/** Lets the page load files from its own origin only, and nothing inline. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const security = {
  'content-security-policy': contentSecurityPolicy,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
}

/** Reads the files of a folder once; returns a function that finds the response for a path. */
export function createConsoleFiles(folder: string): (path: string) => Response | undefined {
  // a request can only get a file that existed at the start
  const files = new Map(
    globSync('**/*.*', { cwd: folder }).map((file) => [
      `/${file.replaceAll(sep, '/')}`,
      { body: readFileSync(join(folder, file)), type: types[extname(file)] ?? 'application/octet-stream' },
    ]),
  )

  return (path) => {
    const file = files.get(path === '/' ? '/index.html' : path)
    return file && new Response(file.body, { headers: { 'content-type': file.type, ...security } })
  }
}
