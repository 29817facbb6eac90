// Serves the built site, and below /forge/ the repository, with its texts as a forge shows them.
import { existsSync, readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { forgePage } from './forge.ts'
import { root } from './pages.ts'

const dist = fileURLToPath(new URL('dist', import.meta.url))
const types: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.md': 'text/html',
}

/** Returns a server that does not listen yet. */
export function createPages(): Server {
  return createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? '/', 'http://localhost').pathname)
    const file = path.startsWith('/forge/') ? join(root, path.slice('/forge'.length)) : join(dist, path)
    if (!existsSync(file)) return response.writeHead(404).end()
    const content = readFileSync(file)
    return response
      .setHeader('content-type', types[extname(file)] ?? 'text/plain')
      .end(extname(file) === '.md' ? forgePage(content.toString()) : content)
  })
}
