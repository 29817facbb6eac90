// The API reference: one page for each entry point, of the docstrings in its source.
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Application, type ProjectReflection } from 'typedoc'
import type { PluginOptions } from 'typedoc-plugin-markdown'
import { root } from './pages.ts'

const audiences = {
  'For applications': {
    '@tokenlane/core': 'core/src/index.ts',
    '@tokenlane/core/node': 'core/src/node.ts',
    '@tokenlane/core/tenants': 'core/src/tenants.ts',
    '@tokenlane/fetch': 'fetch/src/index.ts',
    '@tokenlane/axios': 'axios/src/index.ts',
    '@tokenlane/got': 'got/src/index.ts',
    '@tokenlane/ky': 'ky/src/index.ts',
    '@tokenlane/undici': 'undici/src/index.ts',
    '@tokenlane/otel': 'otel/src/index.ts',
  },
  'For tests': {
    '@tokenlane/core/testing': 'core/src/testing/index.ts',
    '@tokenlane/sandbox': 'sandbox/src/index.ts',
  },
  'For fleets': {
    '@tokenlane/redis': 'redis/src/index.ts',
    '@tokenlane/core/fleet': 'core/src/fleet.ts',
  },
  'For adapters': {
    '@tokenlane/core/adapter': 'core/src/adapter.ts',
    '@tokenlane/conformance': 'conformance/src/index.ts',
  },
}
const entryPoints: Record<string, string> = Object.assign({}, ...Object.values(audiences))

const format: Partial<PluginOptions> = {
  outputFileStrategy: 'modules',
  indexFormat: 'table',
  entryFileName: 'index',
  hideBreadcrumbs: true,
  hidePageHeader: true,
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
  for (const page of globSync(join(folder, '**/*.md'))) {
    const text = readFileSync(page, 'utf8')
    // a line, in the place of a heading and a block of code
    const short = text.replaceAll(/^#+ Default Value\n+```ts\n(.+)\n```$/gm, 'Default: `$1`')
    writeFileSync(page, short.replaceAll(/^#+ Default Value\n+/gm, 'Default: '))
  }
  writeFileSync(join(folder, 'index.md'), contents())
}

/** Modules are called as they are imported. */
function nameModules(project: ProjectReflection): void {
  for (const [name, path] of Object.entries(entryPoints)) {
    const module = project.children?.find((child) => child.name === path.replace(/(\/index)?\.ts$/, ''))
    if (module === undefined) throw new Error(`the API reference has no ${name}`)
    module.name = name
  }
}

/** Returns the first page: the entry points by what one looks for. */
function contents(): string {
  const modules = Object.entries(audiences).map(([title, points]) => {
    const links = Object.keys(points).map((name) => `- [${name}](${name}.md)`)
    return `## ${title}\n\n${links.join('\n')}\n`
  })
  return `# API reference\n\n${modules.join('\n')}`
}
