// Every client of the table: how it is started, and its version. What this machine does not have is left out.
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A client that is judged. */
export interface JudgedClient {
  readonly name: string
  readonly version: string
  readonly command: readonly string[]
}

const folder = import.meta.dirname
const inFolder = (file: string): string => join(folder, 'clients', file)

const packages = [
  '@azure/core-rest-pipeline',
  '@azure/msal-node',
  '@badgateway/oauth2-client',
  '@modelcontextprotocol/client',
  'axios-auth-refresh',
  'google-auth-library',
  'openid-client',
  'simple-oauth2',
]

/** Debian's own Python, which finds Debian's packages. */
const python = '/usr/bin/python3'

const ofDebian = [
  {
    name: 'Python: requests-oauthlib',
    debianPackage: 'python3-requests-oauthlib',
    command: [python, inFolder('requests-oauthlib.py')],
  },
  {
    name: 'Python: Authlib',
    debianPackage: 'python3-authlib',
    command: [python, inFolder('authlib-session.py')],
  },
  { name: 'Ruby: oauth2', debianPackage: 'ruby-oauth2', command: ['ruby', inFolder('oauth2.rb')] },
]

/** @param built a folder for what is compiled. */
export function judgedClients(built: string): JudgedClient[] {
  const here = (name: string, version = ''): JudgedClient => ({
    name,
    version,
    command: [process.execPath, join(folder, 'client.ts'), name],
  })
  return [
    {
      name: 'Tokenlane',
      version: '',
      command: [process.execPath, join(folder, '../../examples/judge/client.ts')],
    },
    here('by hand: a cache'),
    here('by hand: single flight'),
    ...packages.map((name) => here(name, npmVersion(name))),
    ...ofDebian.flatMap(({ name, debianPackage, command }) => {
      const version = debianVersion(debianPackage)
      return version === undefined ? [] : [{ name, version: `${version} (Debian)`, command }]
    }),
    ...goClient(built),
  ]
}

function npmVersion(name: string): string {
  const manifest = readFileSync(join(folder, '../node_modules', name, 'package.json'), 'utf8')
  return (JSON.parse(manifest) as { version: string }).version
}

function debianVersion(name: string): string | undefined {
  const { status, stdout } = spawnSync('dpkg-query', ['--show', '--showformat=${Version}', name], {
    encoding: 'utf8',
  })
  return status === 0 && stdout !== '' ? stdout : undefined
}

/** Debian's Go finds Debian's packages in a GOPATH, without modules. */
function goClient(built: string): JudgedClient[] {
  const version = debianVersion('golang-golang-x-oauth2-dev')
  if (version === undefined || spawnSync('go', ['version']).status !== 0) return []
  const program = join(built, 'x-oauth2')
  const env = {
    ...process.env,
    GO111MODULE: 'off',
    GOPATH: '/usr/share/gocode',
    GOCACHE: join(built, 'cache'),
  }
  execFileSync('go', ['build', '-o', program, inFolder('x-oauth2.go')], { env })
  return [{ name: 'Go: golang.org/x/oauth2', version: `${version} (Debian)`, command: [program] }]
}
