#include "asara/text.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <stdexcept>
#include <utility>
#include <vector>

#include "strings.hpp"

namespace asara {
namespace {

using AreaWord = std::pair<Area, const char*>;

constexpr std::size_t longest_number = 4;  // digits

constexpr std::array<AreaWord, 12> area_words{{
    {AREA_BASE_MARKET, "base-market"},
    {AREA_TRUNK_MARKET, "trunk-market"},
    {AREA_WINDOW_MARKET, "window-market"},
    {AREA_TURRET_MARKET, "turret-market"},
    {AREA_BUILDING_CIRCLE, "circle"},
    {AREA_BANK, "bank"},
    {AREA_COLOURED_BUILDING, "coloured-building"},
    {AREA_HOUSE_OF_SPIES, "spies"},
    {AREA_CALIPHS_PATRONAGE, "patronage"},
    {AREA_TENT, "tent"},
    {AREA_HOUSE_OF_LIGHTED_WINDOWS, "lit-windows"},
    {AREA_HOUSE_OF_THE_BOTTLE_GENIE, "genie"},
}};

std::string word(const std::string& name, const char* prefix, int number) {
    return name.empty() ? std::to_string(number) : detail::enum_word(name, prefix);
}

std::string format(Colour colour) { return word(Colour_Name(colour), "COLOUR_", colour); }

std::string format(BuyerColour buyer) {
    return word(BuyerColour_Name(buyer), "BUYER_COLOUR_", buyer);
}

std::string format(SectionKind kind) { return word(SectionKind_Name(kind), "SECTION_KIND_", kind); }

std::string flag(bool set, const char* name) { return set ? std::string(" ") + name : ""; }

std::string format(Area area) {
    const auto* const found =
        std::find_if(area_words.begin(), area_words.end(), [=](const AreaWord& each) {
            return each.first == area;
        });
    return found == area_words.end() ? std::to_string(area) : found->second;
}

std::string format(const Space& space) {
    return format(space.area()) + " " + std::to_string(space.number());
}

std::string format(const Section& section) {
    return format(section.colour()) + " " + format(section.kind()) + flag(section.gold(), "gold");
}

template <typename Enum>
std::string format_each(const google::protobuf::RepeatedField<int>& numbers) {
    std::string text;
    for (const auto number : numbers) {
        text += " " + format(static_cast<Enum>(number));
    }
    return text;
}

// The words of an action, which are read one after another. All methods throw
// std::invalid_argument.
class Words {
public:
    explicit Words(std::string_view text) : words_(detail::split(text)) {}

    // The word that would be read next; empty at the end.
    [[nodiscard]] std::string peek() const { return words_.empty() ? "" : words_.front(); }

    std::string take() {
        auto word = peek();
        if (!words_.empty()) {
            words_.pop_front();
        }
        return word;
    }

    bool flag(const char* name) {
        const bool found = peek() == name;
        if (found) {
            take();
        }
        return found;
    }

    int number(const std::string& what = "a number") {
        const auto word = take();
        if (word.empty()) {
            throw std::invalid_argument(what + " is missing");
        }
        if (word.size() > longest_number ||
            word.find_first_not_of("0123456789") != std::string::npos) {
            throw std::invalid_argument("'" + word + "' is not " + what);
        }
        return std::stoi(word);
    }

    Colour colour() { return member(COLOUR_WHITE, "colour"); }
    BuyerColour buyer() { return member(BUYER_COLOUR_ORANGE, "buyer"); }
    SectionKind kind() { return member(SECTION_KIND_TURRET, "section kind"); }

    void space(Space& space) {
        space.set_area(member(AREA_HOUSE_OF_THE_BOTTLE_GENIE, "area"));
        space.set_number(number("the number of a space"));
    }

    void section(Section& section) {
        section.set_colour(colour());
        section.set_kind(kind());
        section.set_gold(flag("gold"));
    }

private:
    // A member of an enum whose values are 1 to `last`.
    template <typename Enum>
    Enum member(Enum last, const std::string& what) {
        const auto word = take();
        std::string names;
        for (int number = 1; number <= last; ++number) {
            const auto name = format(static_cast<Enum>(number));
            if (name == word) {
                return static_cast<Enum>(number);
            }
            names += (names.empty() ? "" : ", ") + name;
        }
        throw std::invalid_argument(
            word.empty() ? "a " + what + " is missing"
                         : "no " + what + " '" + word + "'; one of " + names
        );
    }

    std::deque<std::string> words_;
};

void parse_lay(Words& words, Action& action) {
    auto& lay = *action.mutable_lay_buyers();
    while (!words.peek().empty() && words.peek() != "face-down") {
        lay.add_buyers(words.buyer());
    }
    lay.set_face_down(words.flag("face-down"));
    if (lay.buyers_size() < 1 || lay.buyers_size() > (lay.face_down() ? 2 : 1)) {
        throw std::invalid_argument("lay one buyer, or two face-down");
    }
    std::sort(lay.mutable_buyers()->begin(), lay.mutable_buyers()->end());
}

void parse_keep(Words& words, Action& action) {
    auto& colours = *action.mutable_keep_lit_windows()->mutable_colours();
    do {
        colours.Add(words.colour());
    } while (!words.peek().empty());
    std::sort(colours.begin(), colours.end());
}

void parse_found(Words& words, Action& action) {
    auto& found = *action.mutable_found_tower();
    found.set_colour(words.colour());
    found.set_base_gold(words.flag("gold-base"));
    found.set_turret_gold(words.flag("gold-turret"));
}

void parse_extend(Words& words, Action& action) {
    action.mutable_extend_tower()->set_tower(words.number());
    words.section(*action.mutable_extend_tower()->mutable_section());
}

void parse_light(Words& words, Action& action) {
    action.mutable_light_window()->set_tower(words.number());
    action.mutable_light_window()->set_gold(words.flag("gold"));
}

using Parser = void (*)(Words&, Action&);

const std::vector<std::pair<std::string, Parser>>& parsers() {
    static const std::vector<std::pair<std::string, Parser>> table{
        {"dispatch",
         [](Words& w, Action& a) { w.space(*a.mutable_choose_space()->mutable_space()); }},
        {"lay", parse_lay},
        {"take",
         [](Words& w, Action& a) { w.section(*a.mutable_take_section()->mutable_section()); }},
        {"decline", [](Words& /*w*/, Action& a) { a.mutable_decline(); }},
        {"build", [](Words& w, Action& a) { a.mutable_build_count()->set_count(w.number()); }},
        {"found", parse_found},
        {"extend", parse_extend},
        {"light", parse_light},
        {"search", [](Words& w, Action& a) { a.mutable_search_pile()->set_kind(w.kind()); }},
        {"pay", [](Words& w, Action& a) { a.mutable_pay_offer()->set_asari(w.number()); }},
        {"keep", parse_keep},
        {"wish", [](Words& w, Action& a) { w.space(*a.mutable_wish()->mutable_space()); }},
        {"choose", [](Words& w, Action& a) { a.mutable_choose_buyer()->set_buyer(w.buyer()); }},
        {"return",
         [](Words& w, Action& a) { a.mutable_return_lit_window()->set_colour(w.colour()); }},
    };
    return table;
}

Action parse(Words words) {
    const auto verb = words.take();
    std::string verbs;
    for (const auto& [name, parser] : parsers()) {
        if (name == verb) {
            Action action;
            parser(words, action);
            if (const auto rest = words.take(); !rest.empty()) {
                throw std::invalid_argument("unexpected '" + rest + "'");
            }
            return action;
        }
        verbs += (verbs.empty() ? "" : ", ") + name;
    }
    throw std::invalid_argument("no verb '" + verb + "'; one of " + verbs);
}

}  // namespace

std::string format_action(const Action& action) {
    switch (action.action_case()) {
        case Action::kChooseSpace:
            return "dispatch " + format(action.choose_space().space());
        case Action::kLayBuyers:
            return "lay" + format_each<BuyerColour>(action.lay_buyers().buyers()) +
                   flag(action.lay_buyers().face_down(), "face-down");
        case Action::kTakeSection:
            return "take " + format(action.take_section().section());
        case Action::kDecline:
            return "decline";
        case Action::kBuildCount:
            return "build " + std::to_string(action.build_count().count());
        case Action::kFoundTower:
            return "found " + format(action.found_tower().colour()) +
                   flag(action.found_tower().base_gold(), "gold-base") +
                   flag(action.found_tower().turret_gold(), "gold-turret");
        case Action::kExtendTower:
            return "extend " + std::to_string(action.extend_tower().tower()) + " " +
                   format(action.extend_tower().section());
        case Action::kLightWindow:
            return "light " + std::to_string(action.light_window().tower()) +
                   flag(action.light_window().gold(), "gold");
        case Action::kSearchPile:
            return "search " + format(action.search_pile().kind());
        case Action::kPayOffer:
            return "pay " + std::to_string(action.pay_offer().asari());
        case Action::kKeepLitWindows:
            return "keep" + format_each<Colour>(action.keep_lit_windows().colours());
        case Action::kWish:
            return "wish " + format(action.wish().space());
        case Action::kChooseBuyer:
            return "choose " + format(action.choose_buyer().buyer());
        case Action::kReturnLitWindow:
            return "return " + format(action.return_lit_window().colour());
        case Action::ACTION_NOT_SET:
            break;
    }
    return "no action";
}

Action parse_action(std::string_view text) {
    const auto prefix = "action '" + std::string(text) + "': ";
    Action action;
    try {
        action = parse(Words(text));
    } catch (const std::invalid_argument& error) {
        throw std::invalid_argument(prefix + error.what());
    }
    const auto spaced = detail::join(detail::split(text), " ");
    if (const auto canonical = format_action(action); canonical != spaced) {
        throw std::invalid_argument(prefix + "not in canonical form; write '" + canonical + "'");
    }
    return action;
}

}  // namespace asara
