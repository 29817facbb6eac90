import { join, relative } from 'node:path'

// TypeScript 7 cannot be asked from JavaScript yet
import ts from 'typescript-6'

import type { PublicPackage } from './packages.ts'

const printer = ts.createPrinter({ removeComments: true })

/**
 * The public surface of a package as Markdown: what each entry exports, what those declarations name without
 * exporting it, and what they add to other packages' types.
 */
export function surfaceOf({ name, folder, entries, declarations }: PublicPackage): string {
  const fileOf = (entry: string): string => join(folder, declarations.get(entry) as string)
  const program = ts.createProgram(entries.map(fileOf), {
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2023,
    skipLibCheck: true,
  })
  const own = program
    .getSourceFiles()
    .filter(({ fileName }) => !/^\.\.|^node_modules/.test(relative(folder, fileName)))
  const checker = program.getTypeChecker()

  const shown = new Set<ts.Symbol>()
  const sections = entries.map((entry) => {
    const file = program.getSourceFile(fileOf(entry))
    const module = file && checker.getSymbolAtLocation(file)
    if (module === undefined) throw new Error(`${entry} exports nothing`)
    const exported = checker.getExportsOfModule(module).map((symbol) => unaliased(symbol, checker))
    for (const symbol of exported) shown.add(symbol)
    return section(`\`${entry}\``, exported.flatMap(declarationsOf))
  })

  const added = own.flatMap(({ statements }) => statements.filter((node) => ts.isModuleDeclaration(node)))

  const named: ts.Statement[] = []
  const open = [...[...shown].flatMap(declarationsOf), ...added]
  for (let node = open.pop(); node !== undefined; node = open.pop())
    for (const symbol of namedBy(node, checker)) {
      const declared = declarationsOf(symbol)
      // what only adds to another package's type is found by `added`
      if (shown.has(symbol) || !declared.every((one) => own.includes(one.getSourceFile()))) continue
      shown.add(symbol)
      named.push(...declared)
      open.push(...declared)
    }

  return [
    `# The public surface of ${name}\n\nWritten by \`pnpm --dir tools/docs write api\`; a change here is a change for users.\n`,
    ...sections,
    ...(named.length > 0 ? [section('Referenced above, but not exported', named)] : []),
    ...(added.length > 0 ? [section('Added to other packages', added)] : []),
  ].join('\n')
}

function unaliased(symbol: ts.Symbol, checker: ts.TypeChecker): ts.Symbol {
  return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
}

function declarationsOf({ declarations = [] }: ts.Symbol): ts.Statement[] {
  return declarations
    .map((node) => (ts.isVariableDeclaration(node) ? node.parent.parent : node))
    .filter((node) => ts.isStatement(node))
}

/** Every symbol that a declaration mentions. */
function namedBy(declaration: ts.Node, checker: ts.TypeChecker): Set<ts.Symbol> {
  const found = new Set<ts.Symbol>()
  const visit = (node: ts.Node): void => {
    const mentioned = ts.isIdentifier(node) ? checker.getSymbolAtLocation(node) : undefined
    if (mentioned !== undefined) found.add(unaliased(mentioned, checker))
    ts.forEachChild(node, visit)
  }
  visit(declaration)
  return found
}

function section(title: string, statements: readonly ts.Statement[]): string {
  const text = statements
    .map((node) => printer.printNode(ts.EmitHint.Unspecified, node, node.getSourceFile()))
    .toSorted((a, b) => a.localeCompare(b, 'en'))
  return `## ${title}\n\n\`\`\`ts\n${[...new Set(text)].join('\n\n')}\n\`\`\`\n`
}
