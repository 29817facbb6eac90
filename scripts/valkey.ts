// Gets a Valkey server for `pnpm unit:long`, from Debian's packages, into node_modules/.valkey: from the machine's present
// package lists, else from the backports of its release. Without one the tests with Valkey are left out.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findValkeyServer, ownValkey } from '../tools/testing/src/redis-server.ts'
import { unpackServer } from './unpack-server.ts'

const keyring = '/usr/share/keyrings/debian-archive-keyring.gpg'

if (findValkeyServer() === undefined && !unpackServer('valkey', ownValkey) && !unpackFromBackports())
  console.log('Valkey is not on this machine, and apt-get has no package of it: its tests are left out.')

/** Uses package lists of its own, so that the machine keeps its sources as they are. */
function unpackFromBackports(): boolean {
  const archive = debianArchive()
  if (archive === undefined) return false
  const folder = mkdtempSync(join(tmpdir(), 'valkey-'))
  try {
    const sources = join(folder, 'sources.list')
    const { uri, codename } = archive
    // the libraries that it needs are in the release itself
    const suites = [codename, `${codename}-backports`]
    writeFileSync(
      sources,
      suites.map((suite) => `deb [signed-by=${keyring}] ${uri} ${suite} main\n`).join(''),
    )
    for (const name of ['lists', 'cache']) mkdirSync(join(folder, name, 'partial'), { recursive: true })
    const options = [
      `Dir::Etc::sourcelist=${sources}`,
      'Dir::Etc::sourceparts=-',
      `Dir::State::lists=${join(folder, 'lists')}`,
      `Dir::Cache=${join(folder, 'cache')}`,
      `APT::Default-Release=${codename}-backports`,
      // without a network this is to end in seconds
      'Acquire::Retries=0',
      'Acquire::http::Timeout=10',
      'APT::Sandbox::User=root',
    ].flatMap((option) => ['-o', option])
    if (spawnSync('apt-get', [...options, 'update'], { stdio: 'ignore' }).status !== 0) return false
    return unpackServer('valkey', ownValkey, options)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Returns where this machine gets its Debian release from. */
function debianArchive(): { uri: string; codename: string } | undefined {
  const format = ['--format', '$(ORIGIN) $(REPO_URI) $(CODENAME)', 'Identifier: Packages']
  const { stdout } = spawnSync('apt-get', ['indextargets', ...format], { encoding: 'utf8' })
  for (const line of (stdout ?? '').split('\n')) {
    const [origin, uri, codename = ''] = line.split(' ')
    if (origin === 'Debian' && uri !== undefined && /^[a-z]+$/.test(codename)) return { uri, codename }
  }
  return undefined
}
