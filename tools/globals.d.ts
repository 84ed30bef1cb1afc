// What the viewer's modules (assets/web) find in a page that is not the browser's own: Dash, React,
// AG Grid, and what gviz itself hangs there for them.

interface DocumentEventMap {
  "gviz-select": CustomEvent<number[]>;
  "gviz-hover": CustomEvent<number | null>;
  "gviz-filter": CustomEvent<number[] | null>;
}

/** What tests ask of a view's canvas. */
interface HTMLCanvasElement {
  gvizState?: () => object;
  gvizLocate?: (node: number) => { x: number; y: number } | null;
  gvizShow?: (node: number) => void;
}

interface RequestInit {
  /** A question with a sign of its own, or none: dash/progress.js. */
  gvizQuiet?: boolean;
}

/** AG Grid's, as far as it is used. */
interface GridApi {
  isDestroyed(): boolean;
  addEventListener(name: string, listener: (event: any) => void): void;
  removeEventListener(name: string, listener: (event: any) => void): void;
  forEachNode(visit: (row: GridRow) => void): void;
  forEachNodeAfterFilter(visit: (row: GridRow) => void): void;
  getSelectedRows(): any[];
  ensureNodeVisible(row: GridRow, place: string | null): void;
  setGridOption(name: string, value: unknown): void;
  onFilterChanged(): void;
  getAllDisplayedColumns(): { getColId(): string; getColDef(): { width?: number; minWidth?: number; flex?: number } }[];
  getHorizontalPixelRange(): { left: number; right: number };
  setColumnWidths(widths: { key: string; newWidth: number }[]): void;
  getColumnState(): { colId: string; sort?: string | null; sortIndex?: number | null }[];
  exportDataAsCsv(options: {
    fileName: string;
    columnKeys?: string[];
    processCellCallback: (cell: {
      value: unknown;
      column: { getColId(): string };
      node: { data: Record<string, unknown> } | null;
    }) => unknown;
    processHeaderCallback: (head: { column: { getColId(): string } }) => string;
  }): void;
}

interface GridRow {
  id: string;
  data: any;
  displayed: boolean;
}

interface Window {
  dash_clientside: {
    no_update: unknown;
    callback_context: { triggered_id: string | undefined; triggered: { value: any }[] };
    /** Missing until Dash is there. */
    set_props: (id: string, props: object) => void;
    [namespace: string]: any;
  };
  dash_component_api?: { getLayout(id: string): { props: Record<string, any> } | undefined };
  /** Missing on a page without tables: dash/grid.js. */
  dash_ag_grid: { AgGrid: unknown; getApiAsync(id: string): Promise<GridApi> };
  dashAgGridFunctions: object;
  dashAgGridComponentFunctions: object;
  gviz_canvas: object;
  /** Missing until a page has a chart: dash/chart.js. */
  Plotly: any;
  gviz: object;
}

declare const React: any;
