// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Packs the extension with vsce and checks the package.
'use strict';
const assert = require('assert');
const fs = require('fs');
const path = require('path');
const { createVSIX, listFiles } = require('@vscode/vsce');
const [extension, vsix] = process.argv.slice(2);

(async () => {
  const files = (await listFiles({ cwd: extension, dependencies: false })).sort();
  assert.deepStrictEqual(files, ['README.md', 'extension.js', 'list.js', 'package.json', 'rows.js', 'timeline.html', 'timeline.js', 'visits.js']);
  await createVSIX({ cwd: extension, packagePath: vsix, dependencies: false, allowMissingRepository: true, skipLicense: true });
  assert(fs.statSync(vsix).size > 1000);
  // At run time it needs only VS Code.
  const about = JSON.parse(fs.readFileSync(path.join(extension, 'package.json'), 'utf8'));
  assert.strictEqual(about.dependencies, undefined);
  const code = fs.readFileSync(path.join(extension, 'extension.js'), 'utf8');
  const texts = files.filter((name) => name.endsWith('.js')).map((name) => fs.readFileSync(path.join(extension, name), 'utf8'));
  const needs = new Set(texts.flatMap((text) => [...text.matchAll(/require\('([^.'][^']*)'\)/g)].map((match) => match[1])));
  assert.deepStrictEqual([...needs].sort(), ['crypto', 'fs', 'path', 'vscode']);
  // The commands of package.json are those that the code registers.
  const announced = about.contributes.commands.map((c) => c.command).sort();
  const made = [...code.matchAll(/command\('(\w+)'/g)].map((match) => 'chronicle.' + match[1]).sort();
  assert.deepStrictEqual(made, announced);
  console.log('all as expected');
})().catch((error) => {
  console.error(error);
  process.exit(1);
});
