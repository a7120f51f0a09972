//! The instructions for the models of the agents.

use super::node::Note;

pub(super) const CLARIFY: &str = "Decide if this task is too unclear to begin. If so, ask the user one short question. \
    Answer with JSON only: {\"ask\": \"the question\"}, or {\"ask\": null} if the task is clear.";

pub(super) const BLOCK: &str = "Decide if there is one thing that only the user knows and without which no useful work is \
    possible, such as a choice between two directions. Answer with JSON only: {\"ask\": \"the question\"}, or \
    {\"ask\": null} if the work can begin.";

pub(super) const PLAN: &str = "Decide if this task has independent parts on which others can work at the same time. Each \
    part is a question that can be understood alone. Answer with JSON only: {\"questions\": [\"…\"]} with at most 4 \
    questions, or {\"questions\": []} if the task is one piece.";

pub(super) const FINAL: &str = "This is the answer that the user is about to get. Decide if one question to the user would \
    change it much. Answer with JSON only: {\"ask\": \"the question\"}, or {\"ask\": null} if the answer is good as it is.";

pub(super) const WORK: &str = "Work on this task, and answer it.";

pub(super) const SUMMARISE: &str =
    "Write the answer to this task from your own work and the results of the others. Say what is missing.";

pub(super) const ANSWER_NOW: &str =
    "The user wants the answer now. Write it with what there is, and say what is missing.";

/// Returns the text of a task with what is known about it.
pub(super) fn brief(
    instruction: &str,
    task: &str,
    notes: &[Note],
    written: &str,
    results: &[(String, String)],
) -> String {
    let mut text = format!("{instruction}\n\nTask:\n{task}");
    for note in notes {
        match note {
            Note::Answer { question, answer } => {
                text.push_str(&format!("\n\nYou asked: {question}\nThe user answered: {answer}"));
            }
            Note::Remark(remark) => text.push_str(&format!("\n\nThe user remarked: {remark}")),
        }
    }
    if !written.is_empty() {
        text.push_str(&format!("\n\nYour work so far:\n{written}"));
    }
    for (question, result) in results {
        text.push_str(&format!("\n\nResult for {question:?}:\n{result}"));
    }
    text
}
