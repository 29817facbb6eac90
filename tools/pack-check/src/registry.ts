import { once } from 'node:events'
import { cpSync, createReadStream, mkdtempSync, readdirSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

import { type Manifest, readManifest, root } from './packages.ts'
import { must } from './run.ts'

/** An npm registry on loopback. */
export interface Registry extends AsyncDisposable {
  readonly url: string
}

/** One version of a package: its manifest, and where its tarball comes from. */
export interface Published {
  readonly manifest: Manifest
  tarball(): string | Promise<string>
}

/**
 * Serves the given packages and what the workspace has installed, so that npm installs as it would for a stranger
 * and needs no network.
 */
export async function openRegistry(ours: readonly Published[], temp: string): Promise<Registry> {
  const versions = new Map<string, Map<string, Published>>()
  for (const published of [...installedPackages(temp), ...ours]) {
    const { name, version } = published.manifest
    versions.set(name, (versions.get(name) ?? new Map<string, Published>()).set(version, published))
  }

  const server = createServer((request, response) => {
    const [name = '', version] = decodeURIComponent(request.url ?? '')
      .slice(1)
      .split('?')
    const known = versions.get(name)
    if (known !== undefined && version === undefined)
      response.end(JSON.stringify(packument(url, name, known)))
    else void sendTarball(known?.get(version ?? ''), response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  return {
    url,
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

async function sendTarball(published: Published | undefined, response: ServerResponse): Promise<void> {
  if (published === undefined) return void response.writeHead(404).end()
  try {
    createReadStream(await published.tarball()).pipe(response)
  } catch (error) {
    response.writeHead(500).end(String(error))
  }
}

/** What npm asks of a package: every version, and which one is the latest. */
function packument(url: string, name: string, known: ReadonlyMap<string, Published>): object {
  const sorted = [...known.keys()].toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }))
  const versions = [...known].map(([version, { manifest }]) => [
    version,
    { ...manifest, dist: { tarball: `${url}${name}?${version}` } },
  ])
  return { name, 'dist-tags': { latest: sorted.at(-1) }, versions: Object.fromEntries(versions) }
}

/** pnpm keeps each version in a folder of its own, among links to what it depends on. */
function installedPackages(temp: string): Published[] {
  const store = join(root, 'node_modules', '.pnpm')
  return readdirSync(store)
    .filter((name) => name.includes('@'))
    .flatMap((name) => ownPackages(join(store, name, 'node_modules')))
    .map((folder) => ({ manifest: readManifest(folder), tarball: () => packInstalled(folder, temp) }))
}

function ownPackages(modules: string): string[] {
  return readdirSync(modules, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== '.bin')
    .flatMap(({ name }) => (name.startsWith('@') ? ownPackages(join(modules, name)) : [join(modules, name)]))
}

/** A copy is packed: installed files are hard links, of which tar writes the second as a link and npm reads none. */
async function packInstalled(folder: string, temp: string): Promise<string> {
  const place = mkdtempSync(join(temp, 'installed-'))
  cpSync(folder, join(place, 'package'), { recursive: true })
  await must(`packing ${folder}`, 'tar', ['-czf', 'package.tgz', 'package'], { cwd: place })
  return join(place, 'package.tgz')
}
