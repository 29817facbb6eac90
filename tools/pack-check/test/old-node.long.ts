// Long: packs and installs every package, and takes a Node from npm.
import { expect, test } from 'vitest'
import { makeProject } from '../src/project.ts'
import { run } from '../src/run.ts'
import { binaryOf, oldNode } from '../src/runtime.ts'

test(`${oldNode.name} is named as too old, together with what is needed`, { timeout: 600_000 }, async () => {
  using project = await makeProject()
  const code = `import { tokensFor } from '@tokenlane/core'
    try { tokensFor({}) } catch ({ code, message }) { console.log(code, message) }`
  const node = await binaryOf(oldNode)
  const { output } = await run(node, ['--input-type=module', '--eval', code], {
    cwd: project.folder,
  })
  expect(output).toMatch(
    /^RUNTIME_UNSUPPORTED Cannot create token manager: Node v20\.20\.2 is too old; use Node 22\.19, 24, 26 or later/,
  )
  const doctor = await run(node, ['node_modules/tokenlane/dist/main.js', 'doctor'], { cwd: project.folder })
  expect(doctor.output).toBe('tokenlane: Node v20.20.2 is too old; use Node 22.19, 24, 26 or later')
  const sandbox = await run(node, ['node_modules/@tokenlane/sandbox/dist/command/main.js'], {
    cwd: project.folder,
  })
  expect(sandbox.output).toBe('tokenlane-sandbox: Node v20.20.2 is too old; use Node 22.19, 24, 26 or later')
})
