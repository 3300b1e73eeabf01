// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The answers of Chronicle's commands as rows that a person reads. A row has a label, a
// description, and the time to go to.
'use strict';
const path = require('path');

function grouped(time) { return time.toLocaleString('en-US'); }

function placeText(symbol) {
  if (!symbol) return '';
  return ` in ${symbol.function || '?'}` + (symbol.file ? ` at ${path.basename(symbol.file)}:${symbol.line}` : '');
}

function changeText(write) {
  return `${write['old-value'] ?? write.old ?? '(nothing)'} → ${write['new-value'] ?? write.new}`;
}

// One line about a write, from the command's JSON.
function writeText(write) {
  return `${changeText(write)} by ${write.by}${placeText(write.symbol)}, time ${grouped(write.time)}, thread ${write.thread}`;
}

// One line about a call. What differs between calls comes first in a narrow view, so long
// template arguments of the name are left out.
function callText(call) {
  const name = (call.symbol && call.symbol.function) || call.function;
  return `${name}(${call['parameters-text'] || ''})` + (call['value-text'] ? ` = ${call['value-text']}` : '');
}

function shortName(name) {
  let depth = 0, text = '';
  for (const c of name) {
    if (c === '<' && !/operator\s*$/.test(text)) { if (!depth++) text += '<…>'; continue; }
    if (c === '>' && depth) { --depth; continue; }
    if (!depth) text += c;
  }
  return depth ? name : text;
}

function writeRow(write) {
  return { label: changeText(write), description: `${grouped(write.time)}${placeText(write.symbol)}`, tooltip: writeText(write), time: write.time };
}

function callRow(call) {
  const text = callText(call);
  return {
    label: shortName(text), tooltip: text, time: call.start,
    description: `${grouped(call.start)}, thread ${call.thread}${placeText(call.caller && call.caller.symbol)}`,
  };
}

// One row per line that the program printed, oldest first.
function outputRows(results) {
  return results.flatMap((write) => write.text.replace(/\n$/, '').split('\n').map((line) => ({
    label: line, time: write.time,
    description: `${grouped(write.time)}, descriptor ${write.descriptor}, thread ${write.thread}`,
  })));
}

function bookmarkRow(bookmark) {
  return {
    label: bookmark.name, time: bookmark.time, name: bookmark.name, context: 'bookmark',
    description: `${bookmark.note ? bookmark.note + ' · ' : ''}${grouped(bookmark.time)}`,
  };
}

// Little-endian bytes in hexadecimal, as a number if they are one.
function bytesText(hex) {
  if (!hex || hex.length > 16) return hex || '';
  return '0x' + (hex.match(/../g).reverse().join('').replace(/^0+(?=.)/, ''));
}

function whyRow(step) {
  const made = step.made ? `${step.made}${step.operation ? ' by ' + step.operation : ''}` : 'copied';
  return {
    label: `${bytesText(step.value)} ${made}`, time: step.time,
    description: `${grouped(step.time)}${placeText(step.symbol)}`,
    children: (step.operands || []).map((operand) => ({
      label: `${operand.register || operand.address} = ${bytesText(operand.value)}`, time: step.time,
    })),
  };
}

module.exports = { bookmarkRow, callRow, callText, grouped, outputRows, placeText, shortName, whyRow, writeRow, writeText };
