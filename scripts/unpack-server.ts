// Unpacks servers from Debian's packages into a folder of the project, without root: nothing changes on the machine.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ownRedis, ownValkey } from '../tools/testing/src/redis-server.ts'

const keyring = '/usr/share/keyrings/debian-archive-keyring.gpg'

/** Unpacks Redis from the machine's present package lists; returns whether it could. */
export const unpackRedis = (): boolean => unpackServer('redis', ownRedis)

/** Unpacks Valkey from the machine's present package lists, else from the backports of its release. */
export const unpackValkey = (): boolean => unpackServer('valkey', ownValkey) || unpackFromBackports()

/**
 * Unpacks Redis or Valkey, and what it needs, into `folder`; returns whether it could.
 *
 * @param aptOptions where `apt-get` finds the packages; by default in the machine's present lists.
 */
function unpackServer(name: 'redis' | 'valkey', folder: string, aptOptions: readonly string[] = []): boolean {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const packages = mkdtempSync(join(folder, 'packages-'))
  const names = [`${name}-tools`, 'libjemalloc2', 'liblzf1', 'libatomic1']
  const apt = [...aptOptions, 'download', ...names]
  if (!runs(packages, 'apt-get', ...apt)) return false
  for (const file of readdirSync(packages))
    if (!runs(packages, 'dpkg-deb', '-x', join(packages, file), folder)) return false
  // Debian ships one binary under several names
  symlinkSync(`${name}-check-rdb`, join(folder, `usr/bin/${name}-server`))
  return true
}

function runs(cwd: string, command: string, ...args: string[]): boolean {
  return spawnSync(command, args, { cwd, stdio: 'ignore' }).status === 0
}

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
