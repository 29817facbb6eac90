// The rows of panels as a Grafana dashboard.
import { rows, type Panel } from './panels.ts'

const width = 8
const height = 8
const datasource = { type: 'prometheus', uid: '${datasource}' }

/** Returns the dashboard as Grafana imports it. */
export function grafanaDashboard(): object {
  const panels: object[] = []
  let y = 0
  for (const row of rows) {
    panels.push({ type: 'row', title: row.title, id: panels.length + 1, gridPos: { x: 0, y, w: 24, h: 1 } })
    y += 1
    for (const [index, panel] of row.panels.entries()) {
      const gridPos = { x: (index % 3) * width, y: y + Math.floor(index / 3) * height, w: width, h: height }
      panels.push(panelOf(panel, panels.length + 1, gridPos))
    }
    y += Math.ceil(row.panels.length / 3) * height
  }
  return {
    title: 'Tokenlane',
    uid: 'tokenlane',
    description: 'Token requests, queues, pauses and retries of applications that use Tokenlane.',
    tags: ['oauth2', 'tokenlane'],
    schemaVersion: 39,
    editable: true,
    refresh: '30s',
    time: { from: 'now-1h', to: 'now' },
    templating: {
      list: [
        { name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus' },
        // one application of several: job = …
        { name: 'filters', label: 'Filters', type: 'adhoc', datasource },
      ],
    },
    panels,
  }
}

function panelOf({ title, description, unit, queries }: Panel, id: number, gridPos: object): object {
  return {
    id,
    type: 'timeseries',
    title,
    description,
    gridPos,
    datasource,
    fieldConfig: { defaults: { unit, min: 0, custom: { lineWidth: 2, fillOpacity: 8 } }, overrides: [] },
    options: { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi' } },
    targets: queries.map(([legendFormat, expr], index) => ({
      refId: String.fromCodePoint(65 + index),
      datasource,
      expr,
      legendFormat,
    })),
  }
}
