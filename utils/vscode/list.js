// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A view that lists rows (rows.js). Clicking a row goes to its time, and the row of the
// present moment has an arrow.
'use strict';

class List {
  // what: the text of an empty list.
  constructor(vscode, id, what) {
    this.vscode = vscode;
    this.rows = [];
    this.filter = '';
    this.now = undefined;
    this.changed = new vscode.EventEmitter();
    this.onDidChangeTreeData = this.changed.event;
    this.view = vscode.window.createTreeView(id, { treeDataProvider: this });
    this.what = what;
    this.show('', []);
  }

  // title: what the rows are about.
  show(title, rows, message) {
    this.title = title;
    this.rows = rows;
    this.filter = '';
    this.note = message;
    this.refresh();
  }
  clear() { this.show('', []); }

  filterBy(text) {
    this.filter = text;
    this.refresh();
  }
  refresh() {
    const shown = this.shown();
    this.view.description = this.title;
    this.view.message = !this.rows.length ? this.note || this.what
      : this.filter ? `${shown.length} of ${this.rows.length} have "${this.filter}"` : this.note;
    this.changed.fire();
  }
  moved(time) {
    this.now = time;
    this.changed.fire();
  }

  shown() {
    return this.filter ? this.rows.filter((row) => `${row.label} ${row.description}`.includes(this.filter)) : this.rows;
  }
  // The nearest row before or after the present moment.
  next(direction) {
    const times = this.shown().map((row) => row.time).filter((time) => (direction > 0 ? time > this.now : time < this.now));
    return times.length ? (direction > 0 ? Math.min(...times) : Math.max(...times)) : undefined;
  }

  getChildren(row) { return row ? row.children || [] : this.shown(); }
  getTreeItem(row) {
    const { TreeItem, TreeItemCollapsibleState, ThemeIcon } = this.vscode;
    const item = new TreeItem(row.label, row.children && row.children.length ? TreeItemCollapsibleState.Expanded : TreeItemCollapsibleState.None);
    item.description = row.description;
    item.tooltip = row.tooltip || `${row.label}\n${row.description || ''}`;
    item.contextValue = row.context;
    if (row.time !== undefined) {
      item.command = { command: 'chronicle.goToRow', title: 'Go there', arguments: [row] };
      if (row.time === this.now) item.iconPath = new ThemeIcon('debug-stackframe');
    }
    return item;
  }
}

module.exports = { List };
