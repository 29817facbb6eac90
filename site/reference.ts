// The API reference: one page for each entry point, of the docstrings in its source.
import { readFileSync } from 'node:fs'
import { Application, type DeclarationReflection, type ProjectReflection, ReflectionGroup } from 'typedoc'
import type { PluginOptions } from 'typedoc-plugin-markdown'
import { root } from './pages.ts'

const entryPoints = {
  '@tokenlane/core': 'core/src/index.ts',
  '@tokenlane/core/adapter': 'core/src/adapter.ts',
  '@tokenlane/core/fleet': 'core/src/fleet.ts',
  '@tokenlane/core/node': 'core/src/node.ts',
  '@tokenlane/core/testing': 'core/src/testing/index.ts',
  '@tokenlane/fetch': 'fetch/src/index.ts',
  '@tokenlane/axios': 'axios/src/index.ts',
  '@tokenlane/got': 'got/src/index.ts',
  '@tokenlane/ky': 'ky/src/index.ts',
  '@tokenlane/redis': 'redis/src/index.ts',
  '@tokenlane/otel': 'otel/src/index.ts',
  '@tokenlane/sandbox': 'sandbox/src/index.ts',
  '@tokenlane/conformance': 'conformance/src/index.ts',
}

const format: Partial<PluginOptions> = {
  outputFileStrategy: 'modules',
  entryFileName: 'index',
  hideBreadcrumbs: true,
  hidePageHeader: true,
  hideGroupHeadings: false,
  useCodeBlocks: true,
  expandObjects: true,
  parametersFormat: 'table',
  classPropertiesFormat: 'table',
  tableColumnSettings: { hideModifiers: true, hideOverrides: true, hideInherited: true },
  // what looks like a tag would be one for Vue
  useHTMLEncodedBrackets: true,
  sanitizeComments: true,
  useHTMLAnchors: true,
}

/** Writes the pages into `folder`; rejects if a docstring links to what is not there. */
export async function writeReference(folder: string): Promise<void> {
  const app = await Application.bootstrapWithPlugins({
    plugin: ['typedoc-plugin-markdown'],
    entryPoints: Object.values(entryPoints).map((path) => `${root}packages/${path}`),
    tsconfig: `${root}site/tsconfig.reference.json`,
    name: 'API reference',
    out: folder,
    readme: 'none',
    // the types are checked elsewhere
    skipErrorChecking: true,
    disableSources: true,
    groupOrder: ['Functions', 'Classes', 'Interfaces', 'Type Aliases', 'Variables'],
    excludeInternal: true,
    excludeExternals: true,
    githubPages: false,
    logLevel: 'Warn',
    validation: { invalidLink: true, notExported: false, notDocumented: false },
    ...format,
  })
  const project = await app.convert()
  if (project === undefined) throw new Error('the API reference cannot be read')
  nameModules(project)
  app.validate(project)
  await app.generateOutputs(project)
  if (app.logger.hasErrors() || app.logger.hasWarnings()) throw new Error('the API reference has faults')
}

/** Modules are called as they are imported, and hold what they export in the order in which they do. */
function nameModules(project: ProjectReflection): void {
  for (const [name, path] of Object.entries(entryPoints)) {
    const module = project.children?.find((child) => child.name === path.replace(/(\/index)?\.ts$/, ''))
    if (module === undefined) throw new Error(`the API reference has no ${name}`)
    module.name = name
    module.groups = groupsOf(module, readFileSync(`${root}packages/${path}`, 'utf8'))
  }
}

/** By kind, and below that as the comments between the exports say: `// For adapters: …`. */
function groupsOf(module: DeclarationReflection, exports: string): ReflectionGroup[] {
  const special = Array.from(exports.matchAll(/^\/\/ (For \w+):/gm), ({ 1: title = '', index }) => ({
    group: new ReflectionGroup(title, module),
    index,
  })).toReversed()
  const groups = [...(module.groups ?? [])]
  for (const group of groups) {
    const own = []
    for (const child of group.children) {
      const section = special.find(({ index }) => index < place(child.name, exports))
      if (section === undefined) own.push(child)
      else section.group.children.push(child)
    }
    group.children = own
  }
  const all = [...groups, ...special.toReversed().map(({ group }) => group)]
  for (const { children } of all) children.sort((a, b) => place(a.name, exports) - place(b.name, exports))
  return all.filter(({ children }) => children.length > 0)
}

function place(name: string, exports: string): number {
  return exports.search(new RegExp(`\\b${name}\\b`))
}
