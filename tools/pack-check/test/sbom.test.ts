import { expect, test } from 'vitest'
import { withCompiledIn, type Sbom } from '../src/sbom.ts'

const component = (name: string, version: string, group?: string): Sbom['components'][number] => ({
  ...(group !== undefined && { group }),
  name,
  version,
  'bom-ref': `pkg:npm/${name}@${version}`,
})
const sbomOf = (...components: Sbom['components']): Sbom => ({
  metadata: { component: { 'bom-ref': 'own' } },
  components,
  dependencies: [{ ref: 'own', dependsOn: components.map((item) => item['bom-ref']) }],
})
const hono = component('hono', '4.0.0')
const signals = component('signals', '2.0.0', '@preact')
const all = sbomOf(hono, component('signals', '1.0.0', '@preact'), signals, component('vite', '8.0.0'))

test('what is compiled into a package stands in its list of contents, by its version', () => {
  const { components, dependencies } = withCompiledIn(
    sbomOf(hono),
    all,
    '# Licenses\n\n## @preact/signals - 2.0.0 (MIT)\n\n## hono - 4.0.0 (MIT)\n',
  )
  expect(components).toEqual([hono, signals])
  expect(dependencies).toEqual([
    { ref: 'own', dependsOn: ['pkg:npm/hono@4.0.0', 'pkg:npm/signals@2.0.0'] },
    { ref: 'pkg:npm/signals@2.0.0', dependsOn: [] },
  ])
})

test.each([
  ['## @preact/signals - 3.0.0 (MIT)\n', '@preact/signals@3.0.0 is in a package, and not in the lockfile'],
  ['# Licenses\n', 'names no package'],
])('a list of licences that does not fit the lockfile is refused: %j', (licences, message) => {
  expect(() => withCompiledIn(sbomOf(hono), all, licences)).toThrow(message)
})
