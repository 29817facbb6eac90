// Puts the newest version of each client that the packages are for into this copy of the workspace, to run the tests with
// them: the workflow `newest` does. Nothing of it is committed; docs/support.md of this copy and the summary of the
// workflow say what was found.
import { execFileSync } from 'node:child_process'
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'

/** Keys of the catalog, and what npm is asked for. A line of a client that is not the newest stays in its line. */
const clients = {
  axios: 'axios',
  got: 'got',
  ky: 'ky',
  undici: 'undici@7',
  'undici-8': 'undici@8',
  redis: 'redis',
  ioredis: 'ioredis',
  '@opentelemetry/api': '@opentelemetry/api',
}

const catalog = 'pnpm-workspace.yaml'
const page = 'docs/support.md'
const found: string[] = []
for (const [key, asked] of Object.entries(clients)) {
  const answer = execFileSync('npm', ['view', asked, 'version', '--json'], { encoding: 'utf8' })
  const versions = [JSON.parse(answer) as string | string[]].flat()
  const newest = versions.at(-1) ?? ''
  const line = new RegExp(`^( {2}'?${key}'?: (?:npm:.*@)?)(\\S+)$`, 'm')
  const text = readFileSync(catalog, 'utf8')
  const [, , known = ''] = line.exec(text) ?? []
  writeFileSync(catalog, text.replace(line, `$1${newest}`))
  // a version of its own, and not the end of a range
  const cell = new RegExp(`(?<=[|,] +)${known.replaceAll('.', String.raw`\.`)}(?=[ ,])`, 'g')
  writeFileSync(page, readFileSync(page, 'utf8').replaceAll(cell, newest))
  found.push(`| ${asked} | ${known} | ${newest} |`)
}

const summary = ['| client | known | newest |', '| --- | --- | --- |', ...found, ''].join('\n')
console.log(summary)
appendFileSync(process.env['GITHUB_STEP_SUMMARY'] ?? '/dev/null', summary)
// also what is younger than a day: the job has no rights, and no script of a package runs
const options = ['--no-frozen-lockfile', '--ignore-scripts', '--config.minimumReleaseAge=0']
execFileSync('pnpm', ['install', ...options], { stdio: 'inherit' })
